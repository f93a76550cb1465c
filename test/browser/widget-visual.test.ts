/**
 * Picture and audio tasks in a real Chromium under a strict CSP: by mouse, by keyboard, by sound, and what a screen
 * reader gets.
 */
import { describe, expect, test } from 'vitest';
import { useVisitor } from '../support/visitor.ts';
import { digits, pressToAnswer, puzzleAnswer, puzzleMiddle, puzzleWidth, starTiles } from './visual-tasks.ts';
import { useWidgetServer } from './widget-server.ts';

const PAGE = `<!doctype html><html lang="en"><title>page</title><script src="/__protect/widget.js" defer></script><body><form method="post" action="/submit"><gatehouse-widget sitekey="site-1" start="click"></gatehouse-widget></form>`;

const server = useWidgetServer();
/** The dialog does not move while it opens, so that a drag begins and ends where it should. */
const visitor = useVisitor({ context: { reducedMotion: 'reduce' } });

async function open(kind: 'image' | 'puzzle', body = PAGE): Promise<void> {
  server.kind = kind;
  server.pages.set('/page', { body });
  await visitor.page.goto(`${server.url}/page`);
  await visitor.page.getByRole('checkbox').click();
}
const verified = (): Promise<void> => visitor.page.getByRole('checkbox', { name: 'Verified', checked: true }).waitFor();
const lastSolution = (): Record<string, unknown> =>
  server.calls.filter((call) => call.path === 'solution').at(-1)?.body['solution'] as Record<string, unknown>;

describe('an image task', () => {
  test('is solved by mouse over two rounds', async () => {
    await open('image');
    for (const [round, tiles] of starTiles.entries()) {
      await visitor.page.getByText(`(${round + 1}/2)`).waitFor();
      for (const tile of tiles) await visitor.page.getByRole('button', { name: `Picture ${tile + 1}` }).click();
      await visitor.page.getByRole('button', { name: 'Submit' }).click();
    }
    await verified();
    expect(visitor.complaints).toEqual([]);
    // The work before the first picture, the one beside it, and none beside the second.
    const solutions = server.calls.filter(({ path }) => path === 'solution').map(({ body }) => body['solution']);
    expect(solutions.map((solution) => Object.keys(solution as object))).toEqual([
      ['y'],
      ['selected', 'y'],
      ['selected'],
    ]);
  });

  test('is solved by keyboard alone, starting at the instruction', async () => {
    await open('image');
    for (const [round, tiles] of starTiles.entries()) {
      const instruction = visitor.page.getByText(`(${round + 1}/2)`);
      await instruction.waitFor();
      expect(await instruction.evaluate((node) => node.matches(':focus'))).toBe(true);
      await visitor.page.keyboard.press('Tab');
      let at = 0;
      for (const tile of tiles) {
        for (; Math.floor(at / 3) < Math.floor(tile / 3); at += 3) await visitor.page.keyboard.press('ArrowDown');
        for (; at < tile; at++) await visitor.page.keyboard.press('ArrowRight');
        for (; at > tile; at--) await visitor.page.keyboard.press('ArrowLeft');
        await visitor.page.keyboard.press('Space');
      }
      await visitor.page.keyboard.press('Enter');
    }
    await verified();
  });

  test('shows that a solution was wrong and starts another task', async () => {
    await open('image');
    await visitor.page.getByText('(1/2)').waitFor();
    await visitor.page.getByRole('button', { name: 'Picture 1' }).click();
    await visitor.page.getByRole('button', { name: 'Submit' }).click();
    await visitor.page.getByText('That was not right.').waitFor();
  });

  test('reveals nothing of its solution in the markup', async () => {
    await open('image');
    await visitor.page.getByText('(1/2)').waitFor();
    const markup = await visitor.page.evaluate(() => {
      const dialog = document.querySelector('gatehouse-widget')?.shadowRoot?.querySelector('[part=dialog]');
      const task = dialog?.shadowRoot?.querySelector('.task');
      return [...(task?.shadowRoot?.querySelectorAll('.tile') ?? [])].map((tile) =>
        tile.outerHTML.replaceAll(/\d+/g, '#'),
      );
    });
    expect(markup).toHaveLength(9);
    expect(new Set(markup).size).toBe(1);
  });
});

describe('a puzzle', () => {
  test('is solved by dragging the piece', async () => {
    await open('puzzle');
    const piece = visitor.page.getByRole('application', { name: 'Circle to move' });
    const board = visitor.page.locator('.board');
    const scale = (await board.boundingBox())!.width / puzzleWidth;
    // The pointer holds the piece 30 pixels from its left and 40 from its top.
    await piece.dragTo(board, {
      sourcePosition: { x: 30, y: 40 },
      targetPosition: { x: puzzleAnswer.x * scale + 30, y: puzzleAnswer.y * scale + 40 },
      steps: 12,
    });
    await visitor.page.getByRole('button', { name: 'Submit' }).click();
    await verified();
    expect((lastSolution()['path'] as unknown[]).length).toBeGreaterThan(8);
    expect(visitor.complaints).toEqual([]);
  });

  test('says what to move and where, also to a screen reader that reaches the circle', async () => {
    await open('puzzle');
    const words =
      'Move the circle onto the same shape in the picture: drag it, click the place, or use the arrow keys.';
    await visitor.page.getByText(words).waitFor();
    await visitor.page.getByRole('application', { name: 'Circle to move', description: words }).waitFor();
  });

  test('is solved by a single click, without a drag', async () => {
    await open('puzzle');
    const board = visitor.page.locator('.board');
    const width = (await board.boundingBox())!.width;
    const scale = width / puzzleWidth;
    await board.click({ position: { x: puzzleMiddle.x * scale, y: puzzleMiddle.y * scale } });
    await visitor.page.getByRole('button', { name: 'Submit' }).click();
    await verified();
  });

  test('is solved by arrow keys', async () => {
    await open('puzzle');
    await visitor.page.getByRole('application', { name: 'Circle to move' }).waitFor();
    await visitor.page.keyboard.press('Tab');
    await pressToAnswer(visitor.page);
    await visitor.page.keyboard.press('Enter');
    await verified();
  });

  test('fits a screen of 320 pixels', async () => {
    await visitor.page.setViewportSize({ width: 320, height: 640 });
    await open('puzzle');
    await visitor.page.locator('.board').waitFor();
    expect(await visitor.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  });
});

describe('the audio task', () => {
  test.each(['image', 'puzzle'] as const)('replaces the %s task and is solved by keyboard', async (kind) => {
    await open(kind);
    await visitor.page.getByRole('button', { name: 'Use sound instead' }).focus();
    await visitor.page.keyboard.press('Enter');
    await visitor.page.getByText('type the five digits').waitFor();
    // In the same challenge, so that nobody works for it again.
    expect(server.calls.filter((call) => call.path === 'challenge')).toHaveLength(1);
    expect(lastSolution()).toMatchObject({ audio: true });
    const play = visitor.page.getByRole('button', { name: 'Play' });
    await play.focus();
    await visitor.page.keyboard.press('Enter');
    // Nothing is announced over the sound.
    expect(await play.evaluate((node) => node.matches(':focus'))).toBe(true);
    await visitor.page.keyboard.press('Tab');
    await visitor.page.keyboard.type(digits);
    await visitor.page.keyboard.press('Enter');
    await verified();
    expect(visitor.complaints).toEqual([]);
  });

  test('reads the digits of other scripts, with any spacing', async () => {
    await open('image');
    await visitor.page.getByRole('button', { name: 'Use sound instead' }).click();
    await visitor.page.getByLabel('Digits').fill('٣۱ ４-0 7');
    await visitor.page.keyboard.press('Enter');
    await verified();
  });

  test('says that digits are missing or too many before it sends them, and leads back to pictures', async () => {
    await open('image');
    await visitor.page.getByRole('button', { name: 'Use sound instead' }).click();
    const input = visitor.page.getByLabel('Digits');
    await input.waitFor();
    const sent = server.calls.length;
    for (const wrong of ['', '3140', '314075']) {
      await input.fill(wrong);
      await visitor.page.getByRole('button', { name: 'Submit' }).click();
      await visitor.page.getByRole('alert').getByText('Please type exactly five digits.').waitFor();
      expect(await input.getAttribute('aria-invalid')).toBe('true');
      expect(await input.evaluate((node) => node.matches(':focus'))).toBe(true);
    }
    expect(server.calls).toHaveLength(sent);
    await visitor.page.getByRole('button', { name: 'Use pictures instead' }).click();
    await visitor.page.getByText('(1/2)').waitFor();
    await visitor.page.getByRole('button', { name: 'Use sound instead' }).click();
    await visitor.page.getByText('type the five digits').waitFor();
  });
});

test('a screen reader gets name, role and state of every control', async () => {
  await open('image');
  await visitor.page.getByText('(1/2)').waitFor();
  const tree = await visitor.page.locator('gatehouse-widget').ariaSnapshot();
  expect(tree).toContain('checkbox "Please solve a short task."');
  expect(tree).toContain('dialog "Short check"');
  expect(tree).toContain('Choose all pictures that show this shape:');
  expect(tree).toMatch(/button "Picture 1"/);
  expect(tree).toContain('button "Use sound instead"');
});

test('a screen reader hears each instruction, mistake and result once', async () => {
  await visitor.page.addInitScript(() => {
    const spoken: string[] = [];
    /** Live regions whose text changes, and elements that get the focus, in every shadow root. */
    const listen = (root: Document | ShadowRoot): void => {
      root.addEventListener('focusin', (event) => {
        const at = event.composedPath()[0] as HTMLElement;
        if (at.getRootNode() !== root) return;
        const label = root.getElementById(at.getAttribute('aria-labelledby') ?? '') ?? at;
        spoken.push(`focus: ${at.ariaLabel ?? label.textContent}`);
      });
      new MutationObserver((changes) => {
        for (const { target } of changes) {
          const region = (target as Element).closest?.('[role=status],[role=alert],[aria-live]');
          if (region && region.textContent !== '') spoken.push(`live: ${region.textContent}`);
        }
      }).observe(root, { childList: true, subtree: true, characterData: true });
    };
    listen(document);
    const attach = Reflect.get(Element.prototype, 'attachShadow') as (options: ShadowRootInit) => ShadowRoot;
    Element.prototype.attachShadow = function (options) {
      const root = attach.call(this, options);
      listen(root);
      return root;
    };
    Object.assign(window, { spoken });
  });
  server.kind = 'image';
  server.pages.set('/page', { body: PAGE });
  await visitor.page.goto(`${server.url}/page`);
  const spoken = (): Promise<string[]> =>
    visitor.page.evaluate(() => (window as unknown as { spoken: string[] }).spoken.splice(0));
  await visitor.page.getByRole('checkbox').focus();
  await visitor.page.keyboard.press('Space');
  await visitor.page.getByText('(1/2)').waitFor();
  const sentence = 'Choose all pictures that show this shape: star (1/2)';
  expect(await spoken()).toEqual(['focus: I am human', 'live: Verifying…', 'focus: Short check', `focus: ${sentence}`]);
  await visitor.page.keyboard.press('Tab');
  expect(await spoken()).toEqual(['focus: Picture 1']);
  expect(
    await visitor.page
      .getByRole('button', { name: 'Picture 1' })
      .evaluate((tile) => tile.closest('[aria-describedby]')),
  ).toBeNull();
  await visitor.page.keyboard.press('Enter');
  await visitor.page.getByText('That was not right.').waitFor();
  expect(await spoken()).toEqual(['live: Verifying…', `focus: That was not right. ${sentence}`]);
  for (const [round, tiles] of starTiles.entries()) {
    await visitor.page.getByText(`(${round + 1}/2)`).waitFor();
    for (const tile of tiles)
      await visitor.page
        .getByRole('button', { name: `Picture ${tile + 1}` })
        .evaluate((node) => (node as HTMLElement).click());
    await spoken();
    await visitor.page.getByRole('button', { name: 'Submit' }).evaluate((node) => (node as HTMLElement).click());
  }
  await visitor.page.getByRole('checkbox', { name: 'Verified' }).waitFor();
  await expect.poll(() => visitor.page.getByRole('dialog').count()).toBe(0);
  expect((await spoken()).filter((text) => text.includes('Verified'))).toEqual(['focus: Verified']);
});
