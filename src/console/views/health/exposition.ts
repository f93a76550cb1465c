/** Reads the text that Prometheus reads: metrics with their help, type and samples. Lines that are none are skipped. */
export interface MetricSample {
  labels: Readonly<Record<string, string>>;
  value: number;
}

export interface MetricFamily {
  name: string;
  help: string;
  type: string;
  samples: MetricSample[];
}

const COMMENT = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.*)$/;
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: -?\d+)?$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

export function metricFamilies(text: string): MetricFamily[] {
  const families = new Map<string, MetricFamily>();
  const family = (name: string): MetricFamily => {
    const known = families.get(name) ?? { name, help: '', type: 'untyped', samples: [] };
    families.set(name, known);
    return known;
  };
  for (const line of text.split('\n')) {
    const [, kind, described, words] = COMMENT.exec(line) ?? [];
    if (described !== undefined && words !== undefined) {
      if (kind === 'HELP') family(described).help = unescaped(words);
      else family(described).type = words;
      continue;
    }
    const [, name, labels = '', number] = SAMPLE.exec(line) ?? [];
    if (name === undefined || Number.isNaN(Number(number))) continue;
    family(name).samples.push({ labels: labelsIn(labels), value: Number(number) });
  }
  return [...families.values()];
}

function labelsIn(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(LABEL)].map(([, name = '', value = '']) => [name, unescaped(value)]));
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
}
