/** `npm run gatehouse -- COMMAND`: the command line in a checkout. The npm package has `packed.ts` in its place. */
import { runThisProcess } from './main.ts';

await runThisProcess({ program: 'npm run gatehouse --', hasRepository: true });
