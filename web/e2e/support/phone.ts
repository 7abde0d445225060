// A student's phone: a browser of its own, at a phone's size.
import { type Browser, type BrowserContext, type Page, expect } from '@playwright/test';

export class Phone {
  private constructor(
    readonly name: string,
    readonly page: Page,
    private readonly context: BrowserContext,
  ) {}

  static async join(browser: Browser, url: string, code: string, name: string): Promise<Phone> {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, ignoreHTTPSErrors: true });
    const phone = new Phone(name, await context.newPage(), context);
    await phone.page.goto(url);
    // As people type it: lower case, with a space. A finished code is taken at once.
    await phone.page.getByLabel('Game code').fill(`${code.slice(0, 3)} ${code.slice(3)}`.toLowerCase());
    await phone.page.getByLabel('Your name').fill(name);
    await phone.page.getByRole('button', { name: 'Join the game' }).click();
    await phone.isInLobby();
    return phone;
  }

  async isInLobby(): Promise<void> {
    await expect(this.heading()).toHaveText('You’re in');
    await expect(this.page.getByText(this.name, { exact: true })).toBeVisible();
  }

  heading() {
    return this.page.getByRole('heading', { level: 1 });
  }

  choices() {
    return this.page.getByRole('group').getByRole('button');
  }

  /** Taps one answer; of a question with several answers it sends it. */
  async answer(index: number, multiple: boolean): Promise<void> {
    await this.choices().nth(index).tap();
    if (multiple) await this.page.getByRole('button', { name: 'Send answer' }).tap();
  }

  /** The answer is on the server, and the phone shows which one it was. */
  async hasAnswered(index: number): Promise<void> {
    await expect(this.page.getByText('Saved')).toBeVisible();
    await expect(this.choices().nth(index)).toHaveAttribute('aria-pressed', 'true');
  }

  /** Points as the page's head shows them. */
  async total(): Promise<number> {
    return number(await this.page.locator('.who b').innerText());
  }

  /** Name, place and points on the last page. */
  async final(): Promise<{ name: string; rank: number; total: number }> {
    const card = this.page.getByRole('group', { name: 'Your place' });
    const rank = Number.parseInt(await card.locator('.rank').innerText(), 10);
    const line = await card.locator('p').last().innerText();
    const points = /([\d,]+) points?$/.exec(line)?.[1];
    if (points === undefined) throw new Error(`no points in ${JSON.stringify(line)}`);
    return { name: await card.locator('.me').innerText(), rank, total: number(points) };
  }

  async reload(): Promise<void> {
    await this.page.reload();
  }

  async close(): Promise<void> {
    await this.context.close();
  }
}

/** A number as the pages write it. */
export function number(text: string): number {
  const value = Number(text.replaceAll(',', ''));
  if (!Number.isInteger(value)) throw new Error(`${JSON.stringify(text)} is no number`);
  return value;
}
