/** `gatehouse COMMAND`: the command line of the npm package, which has no wrangler, no simulator and no database. */
import { runThisProcess } from './main.ts';

await runThisProcess({ program: 'gatehouse', hasRepository: false });
