// What a teacher gives to others and takes along: a quiz by a link, quizzes and results as files. And the way back in for who has
// forgotten the password.
import { readFileSync } from 'node:fs';
import { type Page, expect, test } from '@playwright/test';

import { Mailbox } from '../support/mailbox.ts';
import { Phone } from '../support/phone.ts';
import { Server } from '../support/server.ts';
import { Teacher } from '../support/teacher.ts';

const GIFT = '::River:: Which river flows through Köln? { =Rhine ~Seine ~Thames }\n\n::Sky:: The sky is blue. {TRUE}\n';
const TITLE = 'Rivers & skies';
/** A spreadsheet must not take it for a formula. */
const STUDENT = '=1+1 Zoë';

let mailbox: Mailbox;
let server: Server;

test.beforeAll(async () => {
  mailbox = await Mailbox.open();
  server = await Server.start({ smtp: mailbox.url });
});

test.afterAll(async () => {
  await server.stop();
  mailbox.close();
});

test('a quiz is shared by a link, copied, kept as files, and taken back', async ({ browser }) => {
  const ada = new Teacher(await (await browser.newContext()).newPage(), server.url, 'ada@school.example');
  await ada.signUp();
  await ada.importFile(gift(`${TITLE}.gift`, GIFT), 2);
  await openSharing(ada.page);
  await ada.page.getByRole('button', { name: 'Make a link' }).click();
  const link = await ada.page.getByLabel('Link for other teachers').inputValue();
  expect(link.startsWith(`${server.url}/teach#/`), link).toBe(true);

  const ben = new Teacher(await (await browser.newContext()).newPage(), server.url, 'ben@school.example');
  await ben.signUp();
  await ben.page.goto(link);
  await expect(ben.page.getByRole('heading', { name: TITLE })).toBeVisible();
  await expect(ben.page.getByText('Shared by Ada Teacher')).toBeVisible();
  await expect(ben.page.getByText('Which river flows through Köln?')).toBeVisible();
  await ben.page.getByRole('button', { name: 'Copy to my library' }).click();
  await expect(ben.page.getByLabel('Quiz title')).toHaveValue(TITLE);
  // The copy is Ben's own: what he changes, Ada does not get.
  await ben.page.getByLabel('Quiz title').fill('Ben’s rivers');
  await ben.page.getByRole('button', { name: 'Save' }).click();
  await expect(ben.page.getByText('All changes saved')).toBeVisible();

  const asGift = await downloaded(ada.page, 'Moodle GIFT');
  expect(asGift.name).toBe(`${TITLE}.gift`);
  const asJson = await downloaded(ada.page, 'Homeroom quiz (JSON)');
  const quiz = JSON.parse(asJson.text) as { title: string; questions: Array<{ text: string }> };
  expect(quiz.title).toBe(TITLE);
  expect(quiz.questions.map(({ text }) => text)).toEqual(['Which river flows through Köln?', 'The sky is blue.']);

  await ada.page.getByRole('button', { name: 'Stop sharing' }).click();
  await expect(ada.page.getByRole('button', { name: 'Make a link' })).toBeVisible();
  await ben.page.goto(`${server.url}/teach#/library`);
  await ben.page.goto(link);
  await expect(ben.page.getByText('This quiz is not shared, or no longer.')).toBeVisible();
  await expect(ben.page.getByRole('button', { name: 'Copy to my library' })).toBeHidden();

  // The files are worth a quiz each; Ben's copy stays his.
  await ben.importFile(gift('again.gift', asGift.text), 2);
  await ben.importFile({ name: asJson.name, mimeType: 'application/json', buffer: Buffer.from(asJson.text) }, 2);
  await ben.page.goto(`${server.url}/teach#/library`);
  await expect(ben.page.locator('.t-card')).toHaveCount(3);
  await expect(ben.page.getByRole('heading', { name: 'Ben’s rivers' })).toBeVisible();
  await ada.page.reload();
  await expect(ada.page.locator('.t-card')).toHaveCount(1);
  await expect(ada.page.getByRole('heading', { name: TITLE })).toBeVisible();
});

test('results are kept as a table that no spreadsheet takes for a program', async ({ browser }) => {
  const eve = new Teacher(await (await browser.newContext()).newPage(), server.url, 'eve@school.example');
  await eve.signUp();
  await eve.importFile(gift('sky.gift', '::Sky:: The sky is blue. {TRUE}'), 1);
  const code = await eve.host('sky');
  const phone = await Phone.join(browser, server.url, code, STUDENT);
  await eve.advance('Start', eve.page.locator('.question-stage'));
  await phone.answer(0, false);
  await expect(phone.heading()).toHaveText(/Correct/);
  const points = await phone.total();
  await eve.advance('Show final places', eve.page.getByRole('heading', { name: 'Final places' }));
  const sure = eve.page.getByRole('dialog').getByRole('button', { name: 'End game' });
  await eve.advance('End game', sure);
  await sure.click();
  await eve.page.getByRole('link', { name: 'Open the report' }).click();
  await expect(eve.page.locator('table.r-students')).toBeVisible();

  const csv = await downloaded(eve.page, 'CSV');
  expect(csv.name).toMatch(/sky.*\.csv$/);
  expect(csv.text.charCodeAt(0), 'a mark by which spreadsheets find the accents').toBe(0xfeff);
  const line = csv.text.split('\r\n').find((row) => row.includes('Zoë'));
  expect(line).toContain(`'${STUDENT}`);
  expect(line).toContain(String(points));
  await phone.close();
});

test('who has forgotten the password comes back in by a letter', async ({ browser }) => {
  const page = await (await browser.newContext()).newPage();
  const kim = new Teacher(page, server.url, 'kim@school.example');
  await kim.signUp();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.goto(`${server.url}/teach#/signin`);
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await page.getByLabel('E-mail address').fill(kim.email);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await expect(page.getByText('a letter is on its way')).toBeVisible();
  const letter = await mailbox.next();
  expect(letter).toContain(`To: ${kim.email}`);
  const link = /https?:\S+\/teach#\/reset\/\S+/.exec(letter)?.[0];
  expect(link, letter).toBeDefined();

  // Letters are often opened on another device.
  const phone = await (await browser.newContext()).newPage();
  await phone.goto(link ?? '');
  await phone.getByLabel('New password').fill('a quite new password');
  await phone.getByRole('button', { name: 'Set the password' }).click();
  await expect(phone.getByText('Your new password is set.')).toBeVisible();
  await phone.getByRole('link', { name: 'Sign in' }).click();
  await phone.getByLabel('E-mail address').fill(kim.email);
  const password = phone.getByLabel('Password', { exact: true });
  await password.fill(kim.password);
  await phone.getByRole('button', { name: 'Sign in' }).click();
  await expect(phone.getByText('The e-mail address or the password is not right.')).toBeVisible();
  await password.fill('a quite new password');
  await phone.getByRole('button', { name: 'Sign in' }).click();
  await expect(phone.getByRole('heading', { name: 'Library', exact: true })).toBeVisible();
  expect(server.output(), 'nothing panicked').not.toContain('panicked');
});

function gift(name: string, text: string): { name: string; mimeType: string; buffer: Buffer } {
  return { name, mimeType: 'text/plain', buffer: Buffer.from(text) };
}

async function openSharing(page: Page): Promise<void> {
  await page.goto(page.url().replace(/#.*/, '#/library'));
  await page.getByRole('button', { name: `Share or export “${TITLE}”` }).click();
}

/** Presses a button that keeps a file. */
async function downloaded(page: Page, button: string): Promise<{ name: string; text: string }> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: button }).click()]);
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
}
