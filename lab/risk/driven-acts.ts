/** What a driven browser does on the recorder's pages, from one look to the imitation of a hand. */
import type { Page } from 'playwright-core';

export type Act = (page: Page, url: string) => Promise<void>;

/** The page reports for the first time after four seconds. */
const FIRST_REPORT_MS = 4600;
/** It reports again after half a minute. */
const STILL_REPORT_MS = 30_600;

export const looks: Act = async (page, url) => {
  await page.goto(url);
  await page.waitForTimeout(FIRST_REPORT_MS);
};
export const visitsPages: Act = async (page, url) => {
  for (const path of ['/', '/prices', '/contact']) {
    await page.goto(url + path);
    await page.waitForTimeout(FIRST_REPORT_MS);
  }
};
export const fillsInAndClicks: Act = async (page, url) => {
  await page.goto(url);
  await page.fill('#name', 'Somebody');
  await page.click('#send');
  await page.click('#send');
  await page.waitForTimeout(FIRST_REPORT_MS);
  await page.click('#next');
  await page.waitForTimeout(FIRST_REPORT_MS);
};
export const dispatchesEvents: Act = async (page, url) => {
  await page.goto(url);
  await page.evaluate(() => {
    for (let move = 0; move < 40; move++)
      document.body.dispatchEvent(new PointerEvent('pointermove', { bubbles: true }));
    document.querySelector<HTMLButtonElement>('#send')?.click();
  });
  await page.waitForTimeout(FIRST_REPORT_MS);
};
export const readsForHalfAMinute: Act = async (page, url) => {
  await page.goto(url);
  await page.waitForTimeout(STILL_REPORT_MS);
};
/** Keys at one pace and a pointer that travels: what a careful script does with the driver's own functions. */
export const typesEvenly: Act = async (page, url) => {
  await page.goto(url);
  await page.mouse.move(120, 90);
  const box = (await page.locator('#name').boundingBox())!;
  await page.locator('#name').scrollIntoViewIfNeeded();
  await page.mouse.move(box.x + 20, 300, { steps: 25 });
  await page.locator('#name').focus();
  await page.keyboard.type('Somebody of this town', { delay: 70 });
  await page.waitForTimeout(FIRST_REPORT_MS);
};
/** Curved, uneven and with pauses. */
export const imitatesAHand: Act = async (page, url) => {
  await page.goto(url);
  let [x, y] = [200, 150];
  for (const target of ['#name', '#send', '#next']) {
    const box = await page.locator(target).boundingBox();
    await page.locator(target).scrollIntoViewIfNeeded();
    const at = (await page.locator(target).boundingBox()) ?? box!;
    const [toX, toY] = [at.x + at.width / 2, at.y + at.height / 2];
    for (let step = 1; step <= 30; step++) {
      const part = (1 - Math.cos((Math.PI * step) / 30)) / 2;
      await page.mouse.move(x + (toX - x) * part + Math.random() * 4, y + (toY - y) * part + Math.sin(step / 4) * 6);
    }
    [x, y] = [toX, toY];
    await page.waitForTimeout(150 + Math.random() * 300);
    if (target !== '#next') await page.mouse.click(x, y);
    if (target === '#name') await page.keyboard.type('Somebody', { delay: 90 });
  }
  await page.waitForTimeout(FIRST_REPORT_MS);
  await page.mouse.click(x, y);
  await page.waitForTimeout(FIRST_REPORT_MS);
};
/** What a script with a task does: the same form and links on several pages, by the driver's own functions. */
export const worksThroughPages: Act = async (page, url) => {
  for (const path of ['/form', '/gallery', '/form']) {
    await page.goto(url + path);
    if (path === '/form') {
      for (const field of ['#name', '#mail', '#message']) await page.fill(field, 'somebody@example.org');
      await page.click('#send');
    } else for (let time = 0; time < 3; time++) await page.click('#forward');
    await page.waitForTimeout(FIRST_REPORT_MS);
    await page.click('#prices');
    await page.waitForTimeout(FIRST_REPORT_MS);
  }
};
/** The pointer travels in straight lines, and keys come one by one. */
export const glidesThroughPages: Act = async (page, url) => {
  for (const path of ['/form', '/gallery', '/form']) {
    await page.goto(url + path);
    await page.mouse.move(60, 500, { steps: 12 });
    for (const target of path === '/form' ? ['#name', '#mail', '#send'] : ['#forward', '#forward']) {
      const box = (await page.locator(target).boundingBox())!;
      await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.6, { steps: 20 });
      await page.mouse.down();
      await page.waitForTimeout(60);
      await page.mouse.up();
      if (target === '#name') await page.keyboard.type('Somebody', { delay: 90 });
    }
    await page.waitForTimeout(FIRST_REPORT_MS);
  }
};
