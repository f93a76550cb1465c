/** Processor time of a page's main thread, which hardly grows when something else uses the machine. */
import type { Page } from 'playwright-core';

/** Milliseconds that the work of `act` took on the page's main thread, and what `act` returned. */
export async function mainThreadMs<Result>(page: Page, act: () => Promise<Result>): Promise<[number, Result]> {
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable', { timeDomain: 'threadTicks' });
  const used = async (): Promise<number> => {
    const { metrics } = await client.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
  };
  const before = await used();
  const result = await act();
  const ms = (await used()) - before;
  await client.detach();
  return [ms, result];
}
