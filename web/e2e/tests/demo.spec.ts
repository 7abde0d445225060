// The demo: a game with bot students for a visitor who has not signed up. With SCREENSHOTS=1 it writes the README's pictures.
import { resolve } from 'node:path';
import { type Page, expect, test } from '@playwright/test';

import { Phone } from '../support/phone.ts';
import { Server } from '../support/server.ts';
import { Teacher } from '../support/teacher.ts';

test('the demo plays with thirty bots and without an account', async ({ browser }) => {
  const server = await Server.start({ demo: true });
  try {
    const laptop = await browser.newContext({ viewport: { width: 1280, height: 720 } });
    const host = new Teacher(await laptop.newPage(), server.url);
    await host.page.goto(`${server.url}/demo`);
    await expect(host.page.getByRole('heading', { name: '30 players' })).toBeVisible({ timeout: 30_000 });
    const code = ((await host.page.locator('.code').getAttribute('aria-label')) ?? '').replaceAll(' ', '');
    const phone = await Phone.join(browser, server.url, code, 'Noor');
    await host.advance('Start', host.page.locator('.question-stage'));
    await expect(phone.choices().first()).toBeVisible();
    await picture(host.page, 'board');
    await picture(phone.page, 'phone');
    await phone.answer(0, false);
    await expect(host.page.locator('table.histogram')).toBeVisible({ timeout: 20_000 });
    await expect(phone.heading()).toHaveText(/Correct/);
    await picture(host.page, 'results');
    await phone.close();
    await laptop.close();
  } finally {
    await server.stop();
  }
});

async function picture(page: Page, name: string): Promise<void> {
  if (!process.env.SCREENSHOTS) return;
  await page.screenshot({ path: resolve(import.meta.dirname, `../../../docs/images/${name}.png`) });
}
