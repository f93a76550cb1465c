/**
 * Reads the networks that the operator of a bot publishes, in the forms in which operators write them. A document counts
 * whole or not at all: one line that is no network of the internet means that it is not the list it should be.
 */
import { formatCidr, parseNetwork } from '../../address/ip.ts';
import { isJsonObject } from '../../bytes/json.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { RangeSource } from '../catalogue.ts';
import { isReserved } from '../../address/reserved.ts';

export const NETWORKS_MAX = 10_000;
/** A wider network is a mistake: no operator of bots has so many addresses. */
const V4_LENGTH_MIN = 8;
const V6_LENGTH_MIN = 19;
/** Of a text that is repeated in an error. */
const SHOWN_CHARS = 60;

export type NetworksError =
  | { kind: 'is-html' }
  | { kind: 'is-empty' }
  | { kind: 'not-json' }
  /** The document is JSON of another form. */
  | { kind: 'other-form'; where: string }
  | { kind: 'no-network'; text: string }
  | { kind: 'reserved'; text: string }
  | { kind: 'too-wide'; text: string }
  | { kind: 'too-many' };

/** The prefixes in canonical form, each once, sorted. */
export function readNetworks(body: string, source: Omit<RangeSource, 'url'>): Result<string[], NetworksError> {
  const text = body.replace(/^\uFEFF/, '').trim();
  if (text === '') return failed({ kind: 'is-empty' });
  if (text.startsWith('<')) return failed({ kind: 'is-html' });
  const written = writtenNetworks(text, source);
  return written.ok ? checkedNetworks(written.value) : written;
}

function writtenNetworks(text: string, { form, members }: Omit<RangeSource, 'url'>): Result<string[], NetworksError> {
  if (form === 'text' || form === 'geofeed') {
    const lines = text.split(/\r\n|\r|\n/).map((line) => line.replace(/#.*$/, '').trim());
    const named = lines.filter((line) => line !== '');
    return ok(form === 'text' ? named : named.map((line) => line.split(',', 1)[0]!.trim()));
  }
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return failed({ kind: 'not-json' });
  }
  return form === 'prefixes' ? prefixesOf(document) : listsOf(document, members ?? ['']);
}

/** `{"prefixes": [{"ipv4Prefix": "…"}, {"ipv6Prefix": "…"}]}`, as Google writes it and most others do. */
function prefixesOf(document: unknown): Result<string[], NetworksError> {
  const prefixes = isJsonObject(document) ? document['prefixes'] : undefined;
  if (!Array.isArray(prefixes)) return failed({ kind: 'other-form', where: 'prefixes' });
  const found: string[] = [];
  for (const [i, entry] of (prefixes as unknown[]).entries()) {
    const values = isJsonObject(entry)
      ? [entry['ipv4Prefix'], entry['ipv6Prefix']].filter((one) => one !== undefined)
      : [];
    const texts = values.filter((one) => typeof one === 'string');
    if (texts.length === 0 || texts.length < values.length)
      return failed({ kind: 'other-form', where: `prefixes[${i}]` });
    found.push(...texts);
  }
  return ok(found);
}

/** Lists of texts at some places of the document; the place `''` is the document itself. */
function listsOf(document: unknown, members: readonly string[]): Result<string[], NetworksError> {
  const found: string[] = [];
  for (const member of members) {
    let value = document;
    for (const name of member === '' ? [] : member.split('.')) {
      value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    }
    if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) {
      return failed({ kind: 'other-form', where: member === '' ? 'the document' : member });
    }
    if (value.length > NETWORKS_MAX) return failed({ kind: 'too-many' });
    found.push(...(value as string[]));
  }
  return ok(found);
}

function checkedNetworks(written: readonly string[]): Result<string[], NetworksError> {
  if (written.length === 0) return failed({ kind: 'is-empty' });
  if (written.length > NETWORKS_MAX) return failed({ kind: 'too-many' });
  const networks = new Set<string>();
  for (const one of written) {
    const network = checkedNetwork(one);
    if (!network.ok) return network;
    networks.add(network.value);
  }
  return ok([...networks].toSorted((a, b) => (a < b ? -1 : 1)));
}

/** A network or an address of the internet in its canonical form. */
export function checkedNetwork(written: string): Result<string, NetworksError> {
  const text = written.slice(0, SHOWN_CHARS);
  const prefix = parseNetwork(written);
  if (prefix === null) return failed({ kind: 'no-network', text });
  if (prefix.prefixLength < (prefix.family === 4 ? V4_LENGTH_MIN : V6_LENGTH_MIN)) {
    return failed({ kind: 'too-wide', text });
  }
  return isReserved(prefix) ? failed({ kind: 'reserved', text }) : ok(formatCidr(prefix));
}

/** One sentence for the operator. What it repeats of the document is short, and is text of a stranger. */
export function networksErrorText(error: NetworksError): string {
  switch (error.kind) {
    case 'is-html':
      return 'The answer is a web page';
    case 'is-empty':
      return 'The answer names no network';
    case 'not-json':
      return 'The answer is not JSON';
    case 'other-form':
      return `The answer has another form at ${error.where}`;
    case 'no-network':
      return `Not a network: ${JSON.stringify(error.text)}`;
    case 'reserved':
      return `Not a network of the internet: ${JSON.stringify(error.text)}`;
    case 'too-wide':
      return `Too wide for one operator: ${JSON.stringify(error.text)}`;
    case 'too-many':
      return `The answer names more than ${NETWORKS_MAX} networks`;
  }
}

/** Whether more than half of the networks that were known would go, or as many would be new. */
export function isLargeChange(known: readonly string[], next: readonly string[]): boolean {
  if (known.length === 0) return false;
  const before = new Set(known);
  const kept = next.filter((one) => before.has(one)).length;
  return 2 * Math.max(before.size - kept, next.length - kept) > before.size;
}
