/** `npm run gatehouse -- COMMAND`: the command line in a checkout. The npm package has `packed.ts` in its place. */
import { GATEHOUSE_VERSION } from '../contract/version.ts';
import { main } from './main.ts';
import { onThisProcess } from './this-process.ts';

await onThisProcess((around) =>
  main(process.argv.slice(2), {
    ...around,
    program: 'npm run gatehouse --',
    version: GATEHOUSE_VERSION,
    hasRepository: true,
  }),
);
