/**
 * `npm run bench -- NAME [arguments]` runs `bench/NAME.ts`; without a name it lists what can be measured. Each prints a
 * table with the ratio to a peer or a floor that is measured in the same run.
 */
const benches: Readonly<Record<string, string>> = {
  rules: '[COUNT…]  match, load and compile times of the rule engine; 1,000 to 1,000,000 rules',
  policies: '[COUNT…]  evaluating the policies of an instance for a request; 0, 100 and 1,000 policies',
  limits: '[KEYS]  what limits cost a request, exact takes, and what keys occupy; 1,000,000 keys',
  bots: 'finding out whether a request is a bot, with the whole catalogue',
  'rule-book': '[RULES]  import, list and change rules behind the local stack; 1,000,000 rules',
  lists: '[ENTRIES]  first reading and 1 % change of a subscribed list behind the local stack; 1,000,000 entries',
  'edge-peers': '[COUNT…] [--crowdsec DIR]  an allowed request beside the Worker of CrowdSec; 0 to 1,000,000 networks',
  lookup:
    '[COUNT…] [--networks FILE]  an address in a list of networks, beside six peers; 10,000 to 1,000,000 networks',
  edge: '[RULES] [--beside DIR] [--rounds N]  processor time of an allowed request at the gate; 1,000,000 rules',
  verify:
    '[TOKENS [http]]  /siteverify beside ALTCHA and Cap over HTTP, then minting, checking and drawing; 20,000 tokens',
  widget:
    '[--runs N] [--race]  a newcomer’s first page; then from the start of a solve to the token, beside Cap and ALTCHA; 15 runs',
  log: '[--rows N]  append to and query one shard of the verdict log; 1,000,000 rows',
  api: '[RECORDS] [CALLS] [NAME]  every management operation on a full account; 1,000,000 captchas',
  signatures: '  processor time for the signature of an agent, first and again',
  neighbours:
    '[ATTACK…] [--attackers N,N] [--networks N]  what newcomers notice of ten minutes of each attack in their network',
  price: '  pages and answers for a CPU-second of a script that has a session and no browser',
  risk: '[--tune] [--each]  replay recorded sessions through the detectors',
  solve:
    '[COURSES] [--http N] [--only TASK] [--train]  attack programs and trained networks against pictures and recordings; 200 courses',
  console:
    '[--rows N] [--rules N] [--runs N] [--state DIR]  the console in a browser: waits and frames; 200,000 verdicts',
  'first-decision':
    '[COUNT…] [--runs N] [--delta] [--beside DIR]  the first decision of a new isolate from a full colo cache; 100 to 1,000,000 rules',
  start: '[--runs N]  from npm start to the first solved challenge; 3 runs',
};

const [wanted = '', ...args] = process.argv.slice(2);
if (!Object.hasOwn(benches, wanted)) {
  const lines = Object.entries(benches).map(([one, what]) => `  ${one.padEnd(14)} ${what}\n`);
  process.stderr.write(`Usage: npm run bench -- NAME [arguments]\n\n${lines.join('')}`);
  process.exit(1);
}
const bench = (await import(`./${wanted}.ts`)) as { run(args: readonly string[]): Promise<void> };
await bench.run(args);
