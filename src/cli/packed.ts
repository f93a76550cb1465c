/** `gatehouse COMMAND`: the command line of the npm package, which has no wrangler, no simulator and no database. */
import { GATEHOUSE_VERSION } from '../contract/version.ts';
import { main } from './main.ts';
import { onThisProcess } from './this-process.ts';

await onThisProcess((around) =>
  main(process.argv.slice(2), {
    ...around,
    program: 'gatehouse',
    version: GATEHOUSE_VERSION,
    hasRepository: false,
  }),
);
