// The API goes away while a teacher prepares, and the game server is one that has just started: the class plays all the same, and
// its report is there when the API is back.
import { expect, test } from '@playwright/test';

import { Bot } from '../support/bots.ts';
import { Phone } from '../support/phone.ts';
import { Site } from '../support/site.ts';
import { Teacher } from '../support/teacher.ts';

const GIFT = '::River:: Which river flows through Cologne? { =Rhine ~Seine ~Thames }\n';

let site: Site;

test.beforeAll(async () => {
  site = await Site.start();
});

test.afterAll(async () => {
  await site.stop();
});

test('a class starts, plays and ends without the API', async ({ browser }) => {
  const laptop = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  const page = await laptop.newPage();
  const teacher = new Teacher(page, site.url);
  await teacher.signUp();
  await teacher.importFile({ name: 'Rivers.txt', mimeType: 'text/plain', buffer: Buffer.from(GIFT) }, 1);

  // The teacher looks at the library; then the API is gone, and the game server is new.
  const held = page.waitForResponse((answer) => answer.url().endsWith('/signed') && answer.ok());
  await page.goto(`${site.url}/teach#/library`);
  await held;
  await site.killApi();
  await site.startGame();

  await page.getByRole('button', { name: /^Host “/ }).first().click();
  await page.getByRole('button', { name: 'Open the lobby' }).click();
  const shown = page.locator('.code');
  await expect(shown).toBeVisible();
  const code = ((await shown.getAttribute('aria-label')) ?? '').replaceAll(' ', '');

  const phone = await Phone.join(browser, site.url, code, 'Ada');
  const bot = await Bot.join(site.loopback, code, 'Bob', 1);
  // The host's page has its token from the tab, and finds its way back after a reload.
  await page.reload();
  await expect(page.getByRole('heading', { name: '2 players' })).toBeVisible();
  await teacher.advance('Start', page.locator('.question-stage'));
  await phone.answer(0, false);
  await teacher.advance('Show final places', page.getByRole('heading', { name: 'Final places' }));
  await bot.until(() => bot.final !== undefined);
  await expect(phone.heading()).toHaveText('Final places');
  const sure = page.getByRole('dialog').getByRole('button', { name: 'End game' });
  await teacher.advance('End game', sure);
  await sure.click();

  await site.startApi();
  await expect(async () => {
    await page.goto(`${site.url}/teach#/games`);
    await page.reload();
    await expect(page.locator('.t-game')).toHaveCount(1, { timeout: 2_000 });
  }).toPass({ timeout: 30_000 });
  await page.locator('.t-game').getByRole('link').first().click();
  const history = page.locator('details.r-history');
  await history.getByText('What happened to this game').click();
  await expect(history.getByText('Report saved')).toBeVisible();
  await expect(history.getByText('Question 1 opened')).toBeVisible();
});
