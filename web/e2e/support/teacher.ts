// A teacher at a laptop.
import { type Locator, type Page, expect } from '@playwright/test';

import { type Line } from './report.ts';
import { number } from './phone.ts';

export class Teacher {
  readonly password = 'correct horse battery';

  constructor(
    readonly page: Page,
    private readonly url: string,
    readonly email = 'ada@school.example',
  ) {}

  async signUp(): Promise<void> {
    await this.page.goto(`${this.url}/teach#/signup`);
    await this.page.getByLabel('Your name').fill('Ada Teacher');
    await this.page.getByLabel('E-mail address').fill(this.email);
    await this.page.getByLabel('Password', { exact: true }).fill(this.password);
    await this.page.getByRole('button', { name: 'Create account' }).click();
    await expect(this.page.getByRole('heading', { name: 'Library', exact: true })).toBeVisible();
  }

  /** Imports one file and waits for what the page says of it. */
  async importFile(file: { name: string; mimeType: string; buffer: Buffer }, imported: number): Promise<void> {
    await this.page.goto(`${this.url}/teach#/import`);
    await this.page.getByLabel('Choose a file').setInputFiles(file);
    const words = imported === 1 ? '1 question imported' : `${imported} questions imported`;
    await expect(this.page.getByText(words)).toBeVisible();
  }

  /** Hosts a quiz of the library; gives the code on the board. */
  async host(title: string): Promise<string> {
    await this.page.goto(`${this.url}/teach#/library`);
    await this.page.getByRole('button', { name: `Host “${title}”` }).click();
    await this.page.getByRole('button', { name: 'Open the lobby' }).click();
    const code = this.page.locator('.code');
    await expect(code).toBeVisible();
    return ((await code.getAttribute('aria-label')) ?? '').replaceAll(' ', '');
  }

  /** Presses the big button of the moment until `shown` is on the page: a press in a view's first moments is ignored. */
  async advance(button: string, shown: Locator): Promise<void> {
    const primary = this.page.locator('footer.controls').getByRole('button', { name: button });
    await expect(async () => {
      if (!(await shown.isVisible())) await primary.click({ timeout: 1_000 });
      await expect(shown).toBeVisible({ timeout: 1_000 });
    }).toPass({ timeout: 15_000 });
  }
}

/** Ranking lines on a board: place, name, points. */
export async function ranking(board: Locator): Promise<Line[]> {
  return Promise.all(
    (await board.locator('ol.ranking > li').all()).map(async (line) => ({
      rank: number(await line.locator('b').innerText()),
      name: await line.locator('.name').innerText(),
      total: number(await line.locator('span.num').innerText()),
    })),
  );
}
