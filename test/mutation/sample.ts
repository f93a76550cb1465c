/**
 * A checker for Stryker that keeps a share of the mutants: `MUTATION_SHARE`, from 0 to 1. The choice depends on the seed,
 * the file, the mutated place and its replacement, so that a second run tests the same mutants.
 */
import { createHash } from 'node:crypto';
import { relative } from 'node:path';

interface Mutant {
  id: string;
  fileName: string;
  replacement: string;
  location: { start: { line: number; column: number }; end: { line: number; column: number } };
}

const SEED = process.env['MUTATION_SEED'] ?? '1';
const SHARE = Number(process.env['MUTATION_SHARE'] ?? 1);

function isInSample({ fileName, replacement, location }: Mutant): boolean {
  const { start, end } = location;
  const text = [SEED, relative('.', fileName), start.line, start.column, end.line, end.column, replacement].join('\n');
  return createHash('sha256').update(text).digest().readUInt32BE() < SHARE * 2 ** 32;
}

const sampleChecker = {
  init: () => Promise.resolve(),
  group: (mutants: readonly Mutant[]) => Promise.resolve([mutants.map(({ id }) => id)]),
  check: (mutants: readonly Mutant[]) =>
    Promise.resolve(
      Object.fromEntries(
        mutants.map((mutant) => [
          mutant.id,
          isInSample(mutant) ? { status: 'passed' } : { status: 'compileError', reason: 'not in the sample' },
        ]),
      ),
    ),
};

export const strykerPlugins = [{ kind: 'Checker', name: 'sample', factory: () => sampleChecker }];
