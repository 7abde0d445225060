// The product's main job, end to end: a teacher signs up, imports, hosts; a class plays; the numbers agree everywhere; the
// report outlives a kill.
import { existsSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { type Page, expect, test } from '@playwright/test';

import { Bot } from '../support/bots.ts';
import { kahootSheet } from '../support/kahoot.ts';
import { Phone, number } from '../support/phone.ts';
import { type Line, newestReport, recomputed } from '../support/report.ts';
import { Server } from '../support/server.ts';
import { Teacher, ranking } from '../support/teacher.ts';

const BOTS = 30;
/** Names that break what is careless with text: markup, right-to-left, joined emoji. */
const NAMES = ['<b>Ada</b> & Co', 'مريم 👩‍👩‍👧'] as const;

let server: Server;

test.beforeAll(async () => {
  server = await Server.start();
});

test.afterAll(async () => {
  await server.stop();
});

test('a class plays a whole game and every number agrees', async ({ browser }) => {
  const laptop = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  const teacher = new Teacher(await laptop.newPage(), server.url);
  await teacher.signUp();
  await importEverything(teacher);

  const code = await teacher.host('Year 7');
  const projector = await openProjector(teacher.page);
  const phones = [
    await Phone.join(browser, server.url, code, NAMES[0]),
    await Phone.join(browser, server.url, code, NAMES[1]),
  ] as const;
  const numbers = Array.from({ length: BOTS }, (_, index) => index);
  const bots = await Promise.all(numbers.map((n) => Bot.join(server.loopback, code, `Student ${n + 1}`, n)));
  await expect(teacher.page.getByRole('heading', { name: `${BOTS + 2} players` })).toBeVisible();

  await everyPhone(phones, async (phone) => {
    await phone.reload();
    await phone.isInLobby();
  });
  await teacher.page.reload();
  await expect(teacher.page.getByRole('heading', { name: `${BOTS + 2} players` })).toBeVisible();

  const open = teacher.page.locator('.question-stage');
  await teacher.advance('Start', open);
  await playQuestion(teacher.page, phones, 1, { multiple: false, of: 3 });
  await teacher.advance('Next question', open);
  await playQuestion(teacher.page, phones, 2, { multiple: false, of: 3 });
  await teacher.page.reload();
  await teacher.advance('Next question', open);
  await playQuestion(teacher.page, phones, 3, { multiple: true, of: 3 });
  await teacher.advance('Show final places', teacher.page.getByRole('heading', { name: 'Final places' }));

  await Promise.all(bots.map((bot) => bot.until(() => bot.final !== undefined)));
  const finals = await everyPhone(phones, async (phone) => {
    await expect(phone.heading()).toHaveText('Final places');
    const before = await phone.final();
    await phone.reload();
    await expect(phone.heading()).toHaveText('Final places');
    expect(await phone.final()).toEqual(before);
    return before;
  });
  await expect(teacher.page.getByRole('heading', { name: 'Final places' })).toBeVisible();
  const board = await ranking(teacher.page.locator('.all-places'));
  await expect(projector.getByRole('heading', { name: 'Final places' })).toBeVisible();
  expect(await ranking(projector.locator('.all-places'))).toEqual(board);
  const podium = await steps(teacher.page);

  const sure = teacher.page.getByRole('dialog').getByRole('button', { name: 'End game' });
  await teacher.advance('End game', sure);
  await sure.click();
  await everyPhone(phones, async (phone) => {
    await expect(phone.heading()).toHaveText('The game is over');
    await phone.reload();
    await expect(phone.heading()).toHaveText('The game is over');
  });
  await Promise.all(bots.map((bot) => bot.until(() => bot.closed !== undefined)));
  expect(bots.map((bot) => bot.closed)).toEqual(bots.map(() => 1000));

  const report = await newestReport(server.loopback, teacher.email, teacher.password);
  const truth = recomputed(report);
  expect(truth.length).toBe(BOTS + 2);
  expect(truth.some((line) => line.total > 0), 'somebody scored').toBe(true);
  expect(sorted(report.result.players.map(({ name, rank, total }) => ({ name, rank, total })))).toEqual(sorted(truth));
  expect(sorted(board)).toEqual(sorted(truth));
  expect(podium).toEqual(sorted(truth).filter((line) => line.rank <= 3).map(({ rank, total }) => ({ rank, total })));
  for (const phone of finals) expect(truth).toContainEqual(phone);
  for (const bot of bots) {
    expect(truth).toContainEqual({ name: bot.name, rank: bot.final?.rank, total: bot.final?.total });
    expect(bot.outcomes.map((outcome) => outcome.q)).toEqual([1, 2, 3]);
    expect([...bot.acked.values()]).toEqual([true, true, true]);
  }
  // Nobody's answer is missing.
  for (const player of report.result.players) expect(player.answers.map((answer) => answer.q)).toEqual([1, 2, 3]);

  await teacher.page.getByRole('link', { name: 'Open the report' }).click();
  expect(sorted(await reportTable(teacher.page))).toEqual(sorted(truth));

  await server.kill();
  await server.boot();
  await teacher.page.reload();
  expect(sorted(await reportTable(teacher.page))).toEqual(sorted(truth));
  expect(server.output(), 'nothing panicked').not.toContain('panicked');

  for (const bot of bots) bot.close();
  await Promise.all(phones.map((phone) => phone.close()));
  await laptop.close();
});

async function importEverything(teacher: Teacher): Promise<void> {
  const gift = readFileSync(resolve(import.meta.dirname, '../fixtures/class.gift'));
  await teacher.importFile({ name: 'class.gift', mimeType: 'text/plain', buffer: gift }, 3);
  await expect(teacher.page.getByRole('table')).toContainText('Longest river');

  const sheet = kahootSheet([
    { question: 'Which is a prime number?', answers: ['9', '7', '15', '21'], seconds: 20, correct: '2' },
    { question: 'Which are colours?', answers: ['Red', 'Seven', 'Blue', 'Day'], seconds: 30, correct: '1,3' },
  ]);
  await teacher.importFile({ name: 'class.xlsx', mimeType: SPREADSHEET, buffer: sheet }, 2);

  // Files that teachers' tools wrote, where they are at hand; the counts were taken by hand.
  const samples = process.env.HOMEROOM_SAMPLES ?? resolve(import.meta.dirname, '../../../../shared/samples');
  if (!existsSync(samples)) {
    expect(process.env.CI, `the sample files are missing: ${samples}`).toBeUndefined();
    return;
  }
  for (const [file, imported] of [
    ['kahoot_2berius_Qahoot.xlsx', 1],
    ['giftpeg_multipleAnswersFloat.gift', 1],
  ] as const) {
    const buffer = readFileSync(resolve(samples, file));
    await teacher.importFile({ name: basename(file), mimeType: 'application/octet-stream', buffer }, imported);
  }
}

const SPREADSHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

async function openProjector(host: Page): Promise<Page> {
  const opened = host.waitForEvent('popup');
  await host.getByRole('link', { name: 'Open projector view' }).click();
  const projector = await opened;
  await expect(projector.locator('.code')).toBeVisible();
  return projector;
}

/** Both phones answer, each reloading before or after; the bots have answered by themselves. */
async function playQuestion(
  host: Page,
  phones: readonly [Phone, Phone],
  q: number,
  { multiple, of }: { multiple: boolean; of: number },
): Promise<void> {
  const [first, second] = phones;
  await everyPhone(phones, (phone) => expect(phone.page.getByText(`Question ${q} of ${of}`).first()).toBeVisible());
  const before = await first.total();

  await first.answer(0, multiple);
  await first.hasAnswered(0);
  await first.reload();
  await first.hasAnswered(0);
  expect(await first.total(), 'points show only when the question has closed').toBe(before);
  await second.reload();
  await expect(second.choices().nth(1)).toBeVisible();
  await second.answer(1, multiple);

  await expect(host.locator('table.histogram')).toBeVisible();
  await everyPhone(phones, async (phone) => {
    await expect(phone.heading()).toHaveText(/Correct|Not this time/);
    const shown = [await phone.heading().innerText(), await phone.total()];
    await phone.reload();
    await expect(phone.heading()).toHaveText(/Correct|Not this time/);
    expect([await phone.heading().innerText(), await phone.total()]).toEqual(shown);
    await expect(phone.page.getByText(phone.name, { exact: true })).toBeVisible();
  });
}

function everyPhone<T>(phones: readonly Phone[], act: (phone: Phone) => Promise<T>): Promise<T[]> {
  return Promise.all(phones.map(act));
}

/** The podium's steps, one line a name, as `recomputed` has them. */
async function steps(host: Page): Promise<Array<{ rank: number; total: number }>> {
  const lines: Array<{ rank: number; total: number }> = [];
  for (const step of await host.locator('ol.podium > li').all()) {
    const rank = Number.parseInt(await step.locator('.block b').innerText(), 10);
    const total = number((await step.locator('.block span').innerText()).split(' ')[0] ?? '');
    // The last entry of a crowded step says how many more there are.
    for (const name of await step.locator('.step-names > li').allInnerTexts()) {
      const more = /^\+(\d+)$/.exec(name)?.[1];
      for (let n = 0; n < (more === undefined ? 1 : Number(more)); n += 1) lines.push({ rank, total });
    }
  }
  return lines;
}

async function reportTable(page: Page): Promise<Line[]> {
  const table = page.locator('table.r-students');
  await expect(table).toBeVisible();
  const rows = await table.locator('tbody tr').all();
  return Promise.all(
    rows.map(async (row) => ({
      rank: number(await row.locator('.r-rank').innerText()),
      name: await row.locator('.name').innerText(),
      total: number(await row.locator('.r-total').innerText()),
    })),
  );
}

function sorted(lines: Line[]): Line[] {
  return [...lines].sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
}
