/** What the protect script counts of hands, in a real Chromium: a driver's own functions, and a pointer that is led as by a hand. */
import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { type HandCounts, telemetryReport } from '../../src/contract/edge/page-reports.ts';
import { useVisitor } from '../support/visitor.ts';
import { useWidgetServer } from './widget-server.ts';

const PAGE = `<!doctype html><html lang="en"><title>page</title><script src="/__protect/protect.js"></script>
<p style="margin:200px 0 0 300px"><input id="name" aria-label="Name"> <input id="mail" aria-label="Mail"></p>
<p style="margin:90px 0 0 420px"><button id="send" type="button" style="width:120px">Send</button></p>`;

const server = useWidgetServer();
const visitor = useVisitor();
beforeEach(async () => {
  server.pages.set('/page', { body: PAGE });
  await visitor.page.goto(`${server.url}/page`);
  await visitor.page.evaluate(() => window.gatehouseProtect?.ready);
});

async function reported(): Promise<{ hands: HandCounts | undefined; agent: true | undefined }> {
  const find = () => server.calls.find(({ path }) => path === 'telemetry');
  await expect.poll(find).toBeDefined();
  const { hands, agent } = telemetryReport.parse(find()!.body);
  return { hands, agent };
}

/** Moves in a curve that is faster in the middle, to a place beside the centre. */
async function leadTo(page: Page, id: string, from: readonly [number, number]): Promise<[number, number]> {
  const { x, y, width, height } = (await page.locator(id).boundingBox())!;
  const to: [number, number] = [x + width * 0.4, y + height * 0.7];
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  for (let step = 1; step <= 20; step++) {
    const part = (1 - Math.cos((Math.PI * step) / 20)) / 2;
    const aside = Math.sin(Math.PI * part) * 0.08;
    await page.mouse.move(from[0] + dx * part - dy * aside, from[1] + dy * part + dx * aside);
  }
  await page.mouse.down();
  await page.mouse.up();
  return to;
}

test('a driver fills fields without keys and presses exact centres', async () => {
  const { page } = visitor;
  await page.fill('#name', 'Somebody');
  await page.fill('#mail', 's@example.org');
  for (let time = 0; time < 3; time++) await page.click('#send');
  await page.mouse.move(40, 40);
  await page.mouse.move(300, 260, { steps: 25 });
  const { hands } = await reported();
  // A busy machine reports before the last of it.
  expect(hands).toMatchObject({ centred: hands!.presses, keyless: hands!.entries });
  expect(hands!.centred).toBeGreaterThan(0);
  expect(hands!.keyless).toBeGreaterThan(0);
  // On a busy machine, pauses cut the movement into pieces that are too short to judge.
  expect(hands!.straight).toBe(hands!.strokes);
});

test('a pointer and keys that are led as by a hand are counted, and nothing of them as a program’s', async () => {
  const { page } = visitor;
  await page.mouse.move(40, 60);
  const atName = await leadTo(page, '#name', [40, 60]);
  await page.keyboard.type('some');
  const atMail = await leadTo(page, '#mail', [atName[0] - 200, atName[1] - 150]);
  await page.keyboard.type('mail');
  await leadTo(page, '#send', [atMail[0] - 160, atMail[1] - 120]);
  const { hands } = await reported();
  expect(hands).toMatchObject({ centred: 0, straight: 0, keyless: 0 });
  expect(hands!.presses).toBeGreaterThan(0);
  expect(hands!.entries).toBeGreaterThan(0);
});

test('a page with the marks of an assistant says so', async () => {
  await visitor.page.evaluate(() => {
    const button = document.createElement('div');
    button.id = 'pplx-agent-0_1-overlay-stop-button';
    document.body.append(button);
  });
  await visitor.page.keyboard.press('Tab');
  expect((await reported()).agent).toBe(true);
});
