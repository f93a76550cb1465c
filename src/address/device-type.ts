/** The device type for the verdict log. The client claims it, so it is never an input of a decision. */
import type { DeviceType } from '../contract/vocabulary.ts';

/** Browsers name their device within these characters. */
const TELLING_CHARS = 512;

const BOT =
  /bot\b|crawl|spider|slurp|curl\/|wget\/|python|java\/|go-http|node-fetch|undici|axios|libwww|headless|okhttp|scrapy/i;
const TABLET = /ipad|tablet|kindle|silk\/|playbook/i;
const MOBILE = /mobi|iphone|ipod|windows phone|blackberry|opera mini/i;
const DESKTOP = /windows nt|macintosh|x11|cros |linux/i;

export function deviceType(userAgent: string, mobileHint: string | null): DeviceType {
  const type = classify(userAgent.slice(0, TELLING_CHARS));
  return mobileHint === '?1' && (type === 'desktop' || type === 'unknown') ? 'mobile' : type;
}

function classify(userAgent: string): DeviceType {
  if (BOT.test(userAgent)) return 'bot';
  if (TABLET.test(userAgent) || (/android/i.test(userAgent) && !MOBILE.test(userAgent))) return 'tablet';
  if (MOBILE.test(userAgent)) return 'mobile';
  return DESKTOP.test(userAgent) ? 'desktop' : 'unknown';
}
