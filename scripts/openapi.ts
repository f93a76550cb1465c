/**
 * `node scripts/openapi.ts` writes docs/openapi.json; with `--check` it only says whether the file is what
 * the schemas say, which is how a drift fails the build.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { openapiDocument } from './openapi-document.ts';
import type { DocumentedOperation } from './openapi-document.ts';

const FILE = new URL('../docs/openapi.json', import.meta.url);
// By address and not by name: the operations are checked with the Worker's types, this script with Node's.
const OPERATIONS = new URL('../src/service/operations.ts', import.meta.url);

const { operations } = (await import(OPERATIONS.href)) as { operations: readonly DocumentedOperation[] };
const wanted = `${JSON.stringify(openapiDocument(operations), null, 2)}\n`;

if (process.argv.includes('--check')) {
  if (readFileSync(FILE, 'utf8') !== wanted) {
    console.error('docs/openapi.json is not what the schemas say: run node scripts/openapi.ts');
    process.exitCode = 1;
  }
} else {
  writeFileSync(FILE, wanted);
}
