/** What a browser without a window lacks, and brands of another browser. Found once, when a session is opened. */
import type { TelemetryTrait } from '../../contract/edge/page-report-names.ts';
import { HEADLESS, namesFound } from '../protect/automation-traits.ts';

interface Brand {
  brand: string;
  version: string;
}

export function browserTraits(): TelemetryTrait[] {
  const { userAgent, languages, plugins } = navigator;
  const { brands = [] } = (navigator as { userAgentData?: { brands?: readonly Brand[] } }).userAgentData ?? {};
  const major = /(?:Headless)?Chrome\/(\d+)/.exec(userAgent)?.[1];
  const isDesktopChrome = major !== undefined && !/Mobile|Android/.test(userAgent);
  return namesFound<TelemetryTrait>([
    ['no-languages', languages.length === 0],
    ['zero-window', outerWidth === 0 && outerHeight === 0],
    ['brands-mismatch', major !== undefined && brands.some((brand) => contradicts(brand, userAgent, major))],
    ['no-chrome-object', isDesktopChrome && !('chrome' in globalThis)],
    ['no-plugins', isDesktopChrome && plugins.length === 0],
  ]);
}

function contradicts({ brand, version }: Brand, userAgent: string, major: string): boolean {
  return (HEADLESS.test(brand) && !HEADLESS.test(userAgent)) || (brand === 'Chromium' && version !== major);
}
