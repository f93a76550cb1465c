/** Every filter of the verdict log alone, every pair of them and every three: what a first page may be asked for. */
import type { RowFilter } from '../../src/store/event-log/row-filter.ts';

type SomeFilter = Partial<RowFilter>;

export interface NamedFilter {
  name: string;
  filter: SomeFilter;
}

export interface SampleRecord {
  ip: string;
  asn: number;
  jti: string;
  request_path: string;
}

/** `since` and `until` are a part of the log in epoch milliseconds. */
export function filterCombinations(sample: SampleRecord, part: { since: number; until: number }): NamedFilter[] {
  const { ip, asn, jti, request_path } = sample;
  const filters: NamedFilter[] = [
    { name: 'blocked', filter: { outcomes: [2] } },
    { name: 'on mobile', filter: { devices: ['mobile'] } },
    { name: 'by policy', filter: { sources: ['policy'] } },
    { name: 'any rule fired', filter: { minRulesFired: 1 } },
    { name: 'one rule fired', filter: { firedRules: [`asn:${asn}`] } },
    { name: 'one network', filter: { asns: [asn] } },
    { name: 'one address', filter: { ip } },
    { name: 'one session', filter: { jti } },
    { name: 'one path', filter: { path: { text: request_path, prefix: false } } },
    { name: 'a path’s beginning', filter: { path: { text: request_path.slice(0, -1), prefix: true } } },
    { name: 'half of all paths', filter: { path: { text: '/shop/items/', prefix: true } } },
    { name: 'part of the week', filter: part },
  ];
  const pairs = filters.flatMap((one, at) => filters.slice(at + 1).flatMap((other) => both(one, other)));
  const triples = filters.flatMap((one, at) =>
    filters
      .slice(at + 1)
      .flatMap((other, next) =>
        filters.slice(at + next + 2).flatMap((third) => both(one, other).flatMap((two) => both(two, third))),
      ),
  );
  return [...filters, ...pairs, ...triples];
}

/** Nothing where both are conditions on the same field. */
function both(one: NamedFilter, other: NamedFilter): NamedFilter[] {
  if (Object.keys(one.filter).some((field) => field in other.filter)) return [];
  return [{ name: `${one.name}, ${other.name}`, filter: { ...one.filter, ...other.filter } }];
}
