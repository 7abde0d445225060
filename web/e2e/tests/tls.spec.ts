// The same product behind its own certificate: pages by https, sockets by wss, a cookie that never travels in the clear.
import { expect, test } from '@playwright/test';

import { Phone } from '../support/phone.ts';
import { Server } from '../support/server.ts';
import { Teacher } from '../support/teacher.ts';

test('over TLS a teacher hosts and a phone plays', async ({ browser }) => {
  const server = await Server.start({ tls: true });
  try {
    const laptop = await browser.newContext({ ignoreHTTPSErrors: true });
    const teacher = new Teacher(await laptop.newPage(), server.url);
    await teacher.signUp();
    const gift = Buffer.from('::Sky:: The sky is blue. {TRUE}');
    await teacher.importFile({ name: 'sky.gift', mimeType: 'text/plain', buffer: gift }, 1);
    const code = await teacher.host('sky');
    const phone = await Phone.join(browser, server.url, code, 'Ada');
    await teacher.advance('Start', teacher.page.locator('.question-stage'));
    await phone.answer(0, false);
    await expect(phone.heading()).toHaveText(/Correct/);
    await teacher.page.reload();
    await expect(teacher.page.locator('table.histogram'), 'a reload stays signed in').toBeVisible();
    const cookies = await laptop.cookies(`${server.url}/store/auth`);
    expect(cookies.map(({ name, secure, httpOnly, sameSite }) => ({ name, secure, httpOnly, sameSite }))).toEqual([
      { name: 'homeroom_refresh', secure: true, httpOnly: true, sameSite: 'Strict' },
    ]);
    await phone.close();
    await laptop.close();
  } finally {
    await server.stop();
  }
});
