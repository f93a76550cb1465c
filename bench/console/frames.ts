/**
 * Frames of scrolling: the list of rules in the console, and beside it the floor, a bare page with the same number of
 * rows of plain text in as many columns, which recycles its elements. What the floor loses, this machine loses anyway.
 */
import type { BrowserContext, Page } from 'playwright-core';
import { mainThreadMs } from './page-processor-time.ts';
import { median, percentile, rounded } from '../measure/statistics.ts';

/** Pixels a frame: a slow wheel, a fast one, and more than a window a frame. */
const STEPS = [100, 300, 731] as const;
const FRAMES = 240;
const ROUNDS = 3;
const ROW_PX = 41;
const LIST = '.table-long';

export async function measureFrames(context: BrowserContext, consoleUrl: string, rules: number): Promise<void> {
  const page = await context.newPage();
  await page.goto(`${consoleUrl}/rules`);
  await page.locator(LIST).waitFor();
  const table: Record<string, object> = {};
  // The first 1,000 rules are there. 240 frames of 731 px need four times as many.
  table['rules, 731 px a frame, while pages arrive'] = row([await scroll(page, 731)]);
  const started = performance.now();
  await loadAll(page, rules);
  console.log(`All rules loaded by scrolling to the end: ${rounded((performance.now() - started) / 1000)} s`);
  const floor = await context.newPage();
  await floor.setContent(floorPage(rules));
  const measured = new Map<string, Scrolled[]>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const step of STEPS) {
      for (const [name, shown] of [
        ['floor', floor],
        ['rules', page],
      ] as const) {
        await shown.bringToFront();
        const key = `${name}, ${step} px a frame`;
        measured.set(key, [...(measured.get(key) ?? []), await scroll(shown, step)]);
      }
    }
  }
  for (const [name, all] of measured) table[name] = row(all);
  console.table(table);
  await floor.close();
  await page.close();
}

interface Scrolled {
  /** Between two frames. */
  gapsMs: number[];
  /** Processor time of the page's main thread. */
  busyMs: number;
}

async function scroll(page: Page, step: number): Promise<Scrolled> {
  const [busyMs, gapsMs] = await mainThreadMs(page, () =>
    page.evaluate(
      ({ list, step: px, frames }) =>
        new Promise<number[]>((done) => {
          const region = document.querySelector(list)!;
          const gaps: number[] = [];
          let last = 0;
          const tick = (now: number) => {
            if (last > 0) gaps.push(now - last);
            last = now;
            region.scrollTop += px;
            if (gaps.length < frames) requestAnimationFrame(tick);
            else done(gaps);
          };
          region.scrollTop = 0;
          requestAnimationFrame(() => requestAnimationFrame(tick));
        }),
      { list: LIST, step, frames: FRAMES },
    ),
  );
  return { gapsMs, busyMs };
}

/** Frames of 60 a second that were not shown. */
const FRAME_MS = 1000 / 60;
const lostOf = (gapsMs: readonly number[]): number =>
  gapsMs.reduce((sum, gap) => sum + Math.max(0, Math.round(gap / FRAME_MS) - 1), 0);

function row(all: readonly Scrolled[]): object {
  const gaps = all.flatMap(({ gapsMs }) => gapsMs);
  return {
    frames: gaps.length,
    lost: lostOf(gaps),
    'lost, median round': median(all.map(({ gapsMs }) => lostOf(gapsMs))),
    'p50 ms': rounded(median(gaps)),
    'p95 ms': rounded(percentile(gaps, 0.95)),
    'slowest ms': rounded(Math.max(...gaps)),
    'main thread, CPU ms a frame': rounded(median(all.map(({ gapsMs, busyMs }) => busyMs / gapsMs.length))),
  };
}

async function loadAll(page: Page, rules: number): Promise<void> {
  await page.evaluate(
    ({ list, wanted }) =>
      new Promise<void>((done) => {
        const region = document.querySelector(list)!;
        const look = () => {
          region.scrollTop = region.scrollHeight;
          if (Number(region.querySelector('[aria-rowcount]')!.getAttribute('aria-rowcount')) > wanted) done();
          else requestAnimationFrame(look);
        };
        look();
      }),
    { list: LIST, wanted: rules },
  );
}

function floorPage(rules: number): string {
  const columns = 10;
  return `<!doctype html><style>
    body { margin: 0; font: 14px/1.45 system-ui }
    ${LIST} { height: 630px; overflow: auto; position: relative; contain: strict }
    .row { position: absolute; inset: 0 0 auto; height: ${ROW_PX}px; display: flex; contain: strict }
    .row div { flex: 1; white-space: nowrap; overflow: hidden; border-bottom: 1px solid #ccc }
    </style><div class="table-long"><div style="height:${rules * ROW_PX}px"></div></div><script>
    const region = document.querySelector('${LIST}');
    const rows = Array.from({ length: 56 }, () => {
      const row = region.appendChild(document.createElement('div'));
      row.className = 'row';
      for (let at = 0; at < ${columns}; at++) row.appendChild(document.createElement('div')).textContent = '-';
      return row;
    });
    const draw = () => {
      const from = Math.max(0, Math.floor(region.scrollTop / ${ROW_PX}) - 20);
      for (let at = from; at < from + rows.length; at++) {
        const row = rows[at % rows.length];
        if (row.at === at) continue;
        row.at = at;
        row.style.transform = 'translateY(' + at * ${ROW_PX} + 'px)';
        [...row.children].forEach((cell, column) => (cell.firstChild.data = 'row ' + at + '.' + column));
      }
    };
    region.addEventListener('scroll', draw, { passive: true });
    draw();
    </script>`;
}
