/**
 * Whether a debugging protocol listens to the page. Chromium then describes what is written to the console, and reads
 * an error's stack for it; otherwise it does not. A fresh realm is asked, because sites wrap their own console. Panels
 * that are open at a side of the window belong to a person.
 */
import type { TelemetryTrait } from '../../contract/edge/telemetry.ts';
import { inFreshRealm } from '../dom/fresh-realm.ts';

/** Wider than a window's frame, and taller than its bars and a row of bookmarks. */
const PANEL_MIN_WIDTH_PX = 160;
const PANEL_MIN_HEIGHT_PX = 250;

export function debuggerTraits(): TelemetryTrait[] {
  const isRead = inFreshRealm(({ console, Error }) => {
    let reads = 0;
    Object.assign(Error, { prepareStackTrace: () => `${++reads}` });
    console.debug(new Error());
    return reads > 0;
  });
  if (!isRead) return [];
  const hasPanel = outerWidth - innerWidth > PANEL_MIN_WIDTH_PX || outerHeight - innerHeight > PANEL_MIN_HEIGHT_PX;
  return [hasPanel ? 'developer-tools' : 'debugger'];
}
