/** `navigator.userAgentData` of Chromium: what it says in short, and whether its long form is of the same browser. */
import type { EnvironmentReport } from '../../contract/edge/page-reports.ts';

interface Brand {
  brand: string;
  version: string;
}
/** Scripts that disguise a browser leave some of it out. */
interface Hints {
  brands: readonly Brand[];
  mobile?: unknown;
  platform?: unknown;
  getHighEntropyValues(names: readonly string[]): Promise<{ fullVersionList?: readonly Brand[] }>;
}

const hintsOf = (): Hints | undefined => (navigator as { userAgentData?: Hints }).userAgentData;

/** In the form of the headers, to be compared with them. */
export function asHints(): EnvironmentReport['hints'] {
  const hints = hintsOf();
  if (hints === undefined) return null;
  const brands = hints.brands.map(({ brand, version }) => `"${brand}";v="${version}"`).join(', ');
  return { brands: brands.slice(0, 256), mobile: hints.mobile === true, platform: String(hints.platform).slice(0, 32) };
}

/** Never more than yes or no: the long form itself could tell browsers apart. */
export async function hasOtherFullVersion(): Promise<boolean> {
  try {
    const hints = hintsOf();
    const { fullVersionList } = (await hints?.getHighEntropyValues(['fullVersionList'])) ?? {};
    if (hints === undefined || fullVersionList === undefined) return false;
    const short = namesAndMajors(hints.brands);
    return short !== namesAndMajors(fullVersionList);
  } catch {
    return false;
  }
}

function namesAndMajors(brands: readonly Brand[]): string {
  return brands
    .map(({ brand, version }) => `${brand} ${version.split('.', 1)[0]}`)
    .toSorted()
    .join();
}
