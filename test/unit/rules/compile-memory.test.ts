/** A compile runs in a Durable Object, which has 128 MB: what a compile takes must follow from the size of its file. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { CompileMemory } from '../../../bench/rules/compile-memory.ts';

/** 81 MB at 1,250,000 rules. */
test('a compile with its signature has every rule in memory at most twice', () => {
  const program = ['bench/rules/compile-memory.ts', 'fingerprints', '150000'];
  const { peakBytes, fileBytes } = JSON.parse(execFileSync('node', program, { encoding: 'utf8' })) as CompileMemory;
  expect(fileBytes).toBeGreaterThan(150_000 * 32);
  // The objects of one slice of rows do not grow with the rules.
  expect(peakBytes).toBeLessThan(2.1 * fileBytes + 4_000_000);
});
