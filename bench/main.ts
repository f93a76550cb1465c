/** `npm run bench -- NAME [arguments]`: runs `bench/NAME.ts`. Each prints a table with the ratio to a peer or a floor. */
const names = ['rules', 'rule-book', 'edge', 'verify', 'widget', 'log', 'api', 'risk', 'start'] as const;

const [given, ...args] = process.argv.slice(2);
const wanted = names.find((name) => name === given);
if (wanted === undefined) {
  process.stderr.write(`Usage: npm run bench -- ${names.join('|')}\n`);
  process.exit(1);
}
const bench = (await import(`./${wanted}.ts`)) as { run(args: readonly string[]): Promise<void> };
await bench.run(args);
