/**
 * Makes docs/walk.webp: a minute from `npm start` to a blocked bot and the reason, from real screens. It starts a stack of
 * its own with `npm start`, runs the commands, and visits shop and console in Chromium. Run: `node scripts/walk.ts`
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { StackFacts } from '../src/cli/state.ts';
import { launchChromium } from '../test/support/chromium.ts';
import { eventually } from '../test/support/eventually.ts';
import { manage } from '../test/support/manage.ts';
import { animatedWebp, type Frame } from './walk/animated-webp.ts';
import { type Scene, SCREEN, STAGE, stage } from './walk/stage.ts';

const OUTPUT = 'docs/walk.webp';
const MAX_BYTES = 3_000_000;
const QUALITY = 55;
const PORT_BASE = 8_970;
/** As the ports of a newcomer's stack. */
const SHOWN_PORT_BASE = 8_800;
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36';

/** Ports, folder and the link's secret are those of this run. */
function asShown(text: string): string {
  return text
    .replaceAll(STATE_FLAG, '')
    .replaceAll(stateDir, '.gatehouse')
    .replaceAll(/\b897([0-2])\b/g, (_, digit: string) => String(SHOWN_PORT_BASE + Number(digit)))
    .replaceAll(/#link=[\w-]+/g, '#link=…');
}

const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-walk-'));
/** Commands that a page prints name the folder of this run. */
const STATE_FLAG = ` --state ${stateDir}`;
const npm = spawn('npm', ['start', '--silent', '--', '--port-base', String(PORT_BASE), '--state', stateDir], {
  stdio: ['ignore', 'pipe', 'inherit'],
  detached: true,
});
let printed = '';
npm.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
const browser = await launchChromium();
try {
  await eventually(
    async () => printed,
    (text) => text.includes('Press Ctrl-C'),
  );
  const stack = JSON.parse(readFileSync(join(stateDir, 'stack.json'), 'utf8')) as StackFacts;
  writeFileSync(OUTPUT, await walk(browser, stack));
  const { size } = statSync(OUTPUT);
  console.log(`${OUTPUT} ${size} B`);
  if (size > MAX_BYTES) throw new Error(`${OUTPUT} is larger than ${MAX_BYTES} bytes`);
} finally {
  await browser.close();
  process.kill(-(npm.pid ?? 0), 'SIGTERM');
  await new Promise((ended) => npm.once('exit', ended));
  rmSync(stateDir, { recursive: true, force: true });
}

type Shot = Omit<Scene, 'step' | 'steps'> & { seconds: number };

async function walk(chromium: Browser, stack: StackFacts): Promise<Buffer> {
  const shots = await allShots(chromium, stack);
  const page = await pageOf(chromium, { viewport: STAGE });
  const devtools = await page.context().newCDPSession(page);
  const frames: Frame[] = [];
  for (const [index, { seconds, ...scene }] of shots.entries()) {
    await page.setContent(stage({ ...scene, step: index + 1, steps: shots.length }));
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
    frames.push({ webp: Buffer.from(data, 'base64'), ms: seconds * 1000 });
  }
  console.log(`${frames.length} pictures, ${frames.reduce((sum, { ms }) => sum + ms, 0) / 1000} seconds`);
  return animatedWebp(frames, STAGE);
}

async function pageOf(chromium: Browser, options: BrowserContextOptions): Promise<Page> {
  const context = await chromium.newContext({ viewport: SCREEN, colorScheme: 'light', locale: 'en-US', ...options });
  return context.newPage();
}

/** From a heading on, where the view does not begin at the top. */
async function pictureOf(page: Page, from: string | null): Promise<string> {
  await page.waitForLoadState('networkidle');
  if (from !== null)
    await page
      .locator(from)
      .first()
      .evaluate((element) => element.scrollIntoView());
  await page.evaluate(
    ([own, shown, stateFlag]) => {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const text = texts.currentNode as Text;
        text.data = text.data
          .replaceAll(new RegExp(`\\b${own}(?=[0-2]\\b)`, 'g'), String(shown))
          .replaceAll(stateFlag, '');
      }
    },
    [PORT_BASE / 10, SHOWN_PORT_BASE / 10, STATE_FLAG] as const,
  );
  return `data:image/png;base64,${(await page.screenshot()).toString('base64')}`;
}

async function allShots(chromium: Browser, stack: StackFacts): Promise<Shot[]> {
  const { edgeUrl, originUrl, consoleUrl, signInUrl } = stack;
  const shots: Shot[] = [];
  const terminal = (command: string, output: string, says: string, seconds: number): void => {
    shots.push({ address: 'Terminal', content: { command, output: asShown(output).trim() }, says, seconds });
  };
  const window = async (page: Page, address: string, says: string, seconds: number, from: string | null = null) => {
    shots.push({ address: asShown(address), content: { picture: await pictureOf(page, from) }, says, seconds });
  };
  /** The bot's-eye view, with what one client gets. Around the gate, which would challenge the form of a driven browser. */
  const sendAs = async (client: string, says: string, seconds: number): Promise<void> => {
    const page = await pageOf(chromium, { userAgent: BROWSER });
    await page.goto(`${originUrl}/bots`);
    await page.getByRole('button', { name: `Send as ${client}` }).click();
    await page.locator('#result').waitFor();
    await window(page, `${edgeUrl}/bots`, says, seconds, 'section.panel');
    await page.context().close();
  };
  /** One page of the shop, as a new visitor. */
  const visit = async (path: string, says: string, seconds: number, userAgent = BROWSER): Promise<void> => {
    const page = await pageOf(chromium, { userAgent });
    await page.goto(`${edgeUrl}${path}`);
    await page.locator('h1').waitFor();
    await window(page, `${edgeUrl}${path}`, says, seconds);
    await page.context().close();
  };

  const welcome = printed.slice(0, printed.indexOf('Press Ctrl-C'));
  terminal('npm start', welcome, 'One command starts a shop, the gate in front of it, and the console.', 6);
  await visit('/', 'The shop, through the gate. A person notices nothing.', 5);
  await visit('/bots', 'Now as somebody else: the bot’s-eye view sends their requests.', 4);
  await sendAs('curl', 'curl is challenged: it would have to prove that a browser is there.', 5);
  await sendAs('headless', 'A browser that a program drives is blocked.', 5);

  const staff = await pageOf(chromium, {});
  await staff.goto(signInUrl);
  await staff.getByRole('button').first().click();
  await staff.waitForURL(/\/console(?!#link)/);
  const open = async (path: string, says: string, seconds: number, from: string | null = null): Promise<void> => {
    await staff.goto(consoleUrl + path);
    await staff.locator('h1').waitFor();
    await staff.waitForLoadState('networkidle');
    await window(staff, consoleUrl + path, says, seconds, from);
  };
  await open('/verdicts', 'The console’s log has every request, and what decided it.', 6, 'form + p');
  await manage(stack, '/protect/access-rules/create', {
    rules: [{ type: 'userAgent', value: 'badbot', verdict: 'block', note: 'copies our prices' }],
  });
  await open('/rules', 'A first rule: block a user agent. It is in force within seconds.', 5, 'form + p');

  const ask = (): string =>
    execFileSync('curl', ['-s', '-A', 'badbot', '-H', 'Sec-Fetch-Dest: empty', `${edgeUrl}/api/products`]).toString();
  const blocked = await eventually(
    async () => ask(),
    (text) => text.includes('ACCESS_POLICY_BLOCK'),
  );
  const { requestId } = JSON.parse(blocked) as { requestId: string };
  terminal(
    `curl -A badbot ${asShown(edgeUrl)}/api/products`,
    JSON.stringify(JSON.parse(blocked), null, 2),
    'The bot gets an error, and the shop never hears of it.',
    5,
  );
  await visit('/', 'A person would see this page, with a reference that they can read aloud.', 6, `${BROWSER} badbot`);

  const short = `${requestId.slice(4, 8)}-${requestId.slice(-4)}`;
  const why = (): string =>
    execFileSync('npm', ['run', '--silent', 'gatehouse', '--', 'why', short, '--text', '--state', stateDir], {
      env: { ...process.env, COLUMNS: '100' },
    }).toString();
  const told = await eventually(
    async () => {
      try {
        return why();
      } catch {
        return '';
      }
    },
    (text) => text !== '',
  );
  terminal(
    `npm run gatehouse -- why ${short}`,
    told,
    'The short reference finds the request: what decided, and what would have happened.',
    7,
  );
  await open(`/verdicts/${requestId}`, 'The console says the same, and offers what to do about it.', 6);
  return shots;
}
