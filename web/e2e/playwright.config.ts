import { defineConfig } from '@playwright/test';

// A retried test hides a race that a class would meet; one worker, because two cores run the server beside the browser.
export default defineConfig({
  testDir: 'tests',
  outputDir: 'out/results',
  timeout: 180_000,
  expect: { timeout: 15_000 },
  retries: 0,
  workers: 1,
  reporter: [['list']],
  use: {
    actionTimeout: 15_000,
    trace: 'retain-on-failure',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        // A school's address: not localhost, plain HTTP, so no secure context.
        '--host-resolver-rules=MAP quiz.school.test 127.0.0.1',
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
