/**
 * What `npm start` looks at first, in JavaScript that every Node runs: `npm ci` installs the packages, and with them the
 * Node that everything else runs on. Before it, there is only the machine's own.
 */
import { existsSync, readFileSync } from 'node:fs';

const major = (version) => Number.parseInt(version, 10);
const own = process.versions.node;
const wanted = major(JSON.parse(readFileSync('package.json', 'utf8')).devDependencies.node);
const isOld = major(own) < wanted;
if (isOld || !existsSync('node_modules/.package-lock.json')) {
  const what = isOld ? `the Node ${wanted} that it needs, because this is Node ${own}` : 'its packages';
  process.stderr.write(`Gatehouse cannot start yet: run "npm ci" in this folder, which installs ${what}.\n`);
  process.exitCode = 1;
}
