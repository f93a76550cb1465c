/**
 * The rooms that mutation testing covers: pure code on which decisions depend. The tests of a room are the files that
 * are there to test it. A change that only a distant test would notice counts as survived.
 */
export interface Room {
  /** Below `src`. */
  name: string;
  /** The part of its changes that a run tests: about a hundred of them. */
  share: number;
  /** Patterns of test files. They run in Node. */
  tests: readonly string[];
  /** Files that need workerd, which no mutation runner can drive. */
  inWorkerd?: readonly string[];
}

export const rooms: readonly Room[] = [
  {
    name: 'rules',
    share: 0.02,
    // Without those that measure memory and time, which take minutes on instrumented code.
    tests: [
      'test/unit/rules/!(compile-memory|crafted-lists).test.ts',
      'test/property/rules/{prefixes,fingerprints,record-inputs,substrings,heads}.test.ts',
    ],
  },
  {
    name: 'captcha/verify',
    share: 0.22,
    tests: ['test/unit/captcha/{derived-key,ip-validation,judge-token,verification-policy}.test.ts'],
  },
  { name: 'edge/decide', share: 0.15, tests: ['test/unit/edge/**/*.test.ts'] },
  {
    name: 'limits',
    share: 0.2,
    tests: [
      'test/{unit,property}/limits/**/*.test.ts',
      'test/unit/edge/{limits,limit-counts,limit-step,limit-order,exact-takes,key-source}.test.ts',
    ],
  },
  {
    name: 'bytes',
    share: 0.15,
    tests: [
      'test/{unit,property}/bytes/**/*.test.ts',
      'test/unit/edge/{canonical-path,path-policy,session,cookies,form-texts,submission}.test.ts',
      'test/property/edge/path-readings.test.ts',
      'test/unit/captcha/{seal,pow}.test.ts',
    ],
    inWorkerd: ['same-secret.ts'],
  },
  {
    name: 'address',
    share: 0.15,
    tests: [
      'test/{unit,property}/address/**/*.test.ts',
      'test/unit/rules/match-address.test.ts',
      'test/property/rules/{parsed-address,fingerprints}.test.ts',
      'test/unit/edge/ip-categories.test.ts',
      'test/unit/lists/*.test.ts',
    ],
  },
];
