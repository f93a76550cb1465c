/**
 * `node scripts/openapi.ts` writes docs/openapi.json and the typed client that the tests use; with `--check`
 * it only says whether both are what the schemas say, which is how a drift fails the build.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { apiClientSource } from './api-client.ts';
import { openapiDocument } from './openapi-document.ts';
import type { DocumentedOperation } from './openapi-document.ts';

// By address and not by name: the operations are checked with the Worker's types, this script with Node's.
const OPERATIONS = new URL('../src/service/operations/operation-table.ts', import.meta.url);

const { operations } = (await import(OPERATIONS.href)) as { operations: readonly DocumentedOperation[] };
const document = openapiDocument(operations);
const files = {
  'docs/openapi.json': `${JSON.stringify(document, null, 2)}\n`,
  'test/support/api-client.generated.ts': apiClientSource(document),
};

for (const [path, wanted] of Object.entries(files)) {
  const file = new URL(`../${path}`, import.meta.url);
  if (!process.argv.includes('--check')) writeFileSync(file, wanted);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== wanted) {
    console.error(`${path} is not what the schemas say: run node scripts/openapi.ts`);
    process.exitCode = 1;
  }
}
