/** `npm run gatehouse -- COMMAND`: the command line in a checkout. The npm package has `packed.ts` in its place. */
import { readFileSync } from 'node:fs';
import { main } from './main.ts';
import { onThisProcess } from './this-process.ts';

const manifest = new URL('../../package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };

await onThisProcess((around) =>
  main(process.argv.slice(2), { ...around, program: 'npm run gatehouse --', version, hasRepository: true }),
);
