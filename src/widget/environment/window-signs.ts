/**
 * What a browser without a window, or one whose window a driver resized by protocol, shows of its window and screen.
 * Touch screens are left out: zoom and desktop mode change their sizes.
 */
import type { EnvironmentSign } from '../../contract/edge/page-report-names.ts';
import { namesFound } from '../protect/automation-traits.ts';

/** A maximised window reaches a few pixels beyond the screen. */
const BEYOND_MAX_PX = 48;
/** Chromium has at least a row of tabs. */
const BARS_MIN_PX = 20;

export function windowSigns(isChromium: boolean): EnvironmentSign[] {
  if (navigator.maxTouchPoints > 0) return [];
  const { width, height } = screen;
  const isWindow = matchMedia('(display-mode: browser)').matches;
  return namesFound<EnvironmentSign>([
    ['beyond-screen', outerWidth > width + BEYOND_MAX_PX || outerHeight > height + BEYOND_MAX_PX],
    ['false-orientation', hasFalseOrientation(screen)],
    ['no-bars', isChromium && isWindow && outerHeight > 0 && outerHeight - innerHeight < BARS_MIN_PX],
    ['smallest-screen', width <= 800 && height <= 600],
    ['no-scrollbars', isChromium && !/Mac/.test(navigator.platform) && scrollbarPx() === 0],
    ['no-pointer', isChromium && matchMedia('(any-pointer: none)').matches],
  ]);
}

/** By definition, an upright screen is higher than wide. Old browsers do not say. */
function hasFalseOrientation({ width, height, orientation }: Screen): boolean {
  const { type = '' } = (orientation as ScreenOrientation | undefined) ?? {};
  return (type.startsWith('portrait') && width > height) || (type.startsWith('landscape') && height > width);
}

function scrollbarPx(): number {
  const box = document.createElement('div');
  // Inherited styles of the page must not reach it.
  box.style.cssText = 'all:initial;position:absolute;visibility:hidden;width:99px;height:99px;overflow:scroll';
  document.documentElement.append(box);
  const px = box.offsetWidth - box.clientWidth;
  box.remove();
  return px;
}
