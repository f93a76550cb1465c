/**
 * Which versions of an engine have the functions of the language that a page reported. Versions are those of MDN's
 * compatibility data; some versions of reserve allow for flags and for errors in it.
 */
import { languageFeatures } from '../../contract/edge/page-report-names.ts';

type Feature = (typeof languageFeatures)[number];
type Versioned = 'chromium' | 'firefox';

const since: Readonly<Record<Versioned, Readonly<Record<Feature, number>>>> = {
  chromium: {
    findLast: 97,
    toSorted: 110,
    fromAsync: 121,
    union: 122,
    Iterator: 122,
    try: 128,
    escape: 136,
    fromBase64: 140,
    Temporal: 144,
  },
  firefox: {
    findLast: 104,
    toSorted: 115,
    fromAsync: 115,
    union: 127,
    Iterator: 131,
    try: 134,
    escape: 134,
    fromBase64: 133,
    Temporal: 139,
  },
};
const RESERVE = 4;

/** Whether an engine of this version has other functions. */
export function contradictsVersion(engine: Versioned, major: number, features: number): boolean {
  return languageFeatures.some((name, place) => {
    const isThere = Math.floor(features / 2 ** place) % 2 === 1;
    return isThere ? major < since[engine][name] - RESERVE : major >= since[engine][name] + RESERVE;
  });
}
