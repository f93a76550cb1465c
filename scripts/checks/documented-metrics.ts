/** Metrics and counters in the pages for operators: which ones should wake somebody, and what each counter means. */
import { globSync, readFileSync } from 'node:fs';
import { metrics } from '../../src/service/operations/protect/verdicts/metrics-table.ts';

/** Far fewer than the edge has. Less means that the search below no longer finds them. */
const [COUNTERS_MIN, LABELLED_MIN] = [20, 15];

export async function checkDocumentedMetrics(): Promise<string[]> {
  return [...wakingMetrics(), ...edgeCounters()];
}

function wakingMetrics(): string[] {
  const page = readFileSync('docs/operations.md', 'utf8');
  const watched = page.slice(page.indexOf('### What to watch'), page.indexOf('## Personal data'));
  const named = new Set([...watched.matchAll(/gatehouse_([a-z_]+)/g)].map(([, name = '']) => name));
  const waking = new Set<string>(metrics.filter(({ wakes }) => wakes).map(({ name }) => name));
  return [
    ...[...waking]
      .filter((name) => !named.has(name))
      .map((name) => `docs/operations.md, What to watch: ${name} is missing`),
    ...[...named]
      .filter((name) => !waking.has(name))
      .map((name) => `docs/operations.md, What to watch: ${name} should wake nobody`),
  ];
}

function edgeCounters(): string[] {
  const page = readFileSync('docs/failure-modes.md', 'utf8');
  const sources = globSync('src/{edge,logsink}/**/*.ts')
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  const counters = [...sources.matchAll(/(?:\bcount|Counters\.add|counters\.add)\(\s*['"`]([a-z_]+)/g)].map(
    ([, name = '']) => name,
  );
  const labelled = [...sources.matchAll(/\(\s*['"`]([a-z_]+)\{([a-z]+)="([^"]+)"\}['"`]/g)];
  const exported = new Set<string>(metrics.map(({ name }) => name));
  const wronglyLabelled = labelled.filter(([, name, label, value = '']) => {
    const known = metrics.find((metric) => metric.name === name)?.label;
    // What an expression stands for is not known here.
    return known?.name !== label || !(value.includes('${') || known?.values.includes(value));
  });
  return [
    ...(counters.length > COUNTERS_MIN ? [] : [`only ${counters.length} counters found in src/edge and src/logsink`]),
    ...(labelled.length > LABELLED_MIN ? [] : [`only ${labelled.length} counters with a label found`]),
    ...[...new Set(counters)].flatMap((name) => [
      ...(exported.has(name) ? [] : [`the counter ${name} is not in the table of metrics`]),
      ...(page.includes(`\`${name}`) ? [] : [`docs/failure-modes.md does not explain the counter ${name}`]),
    ]),
    ...wronglyLabelled.map(([text]) => `the table of metrics has no such label: ${text}`),
  ];
}
