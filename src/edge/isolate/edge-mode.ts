/**
 * What differs between the two edge Workers (design 4): the one with a service of this project behind
 * it, and the one against any service of the interface document. Each has its entry and its wrangler
 * file, so that neither carries what only the other needs.
 */
import type { Edge } from './edge.ts';
import type { EnvironmentReader, RulesSource } from '../environment.ts';
import type { ConfigSeal } from '../feed/config-seal.ts';
import type { KvStore } from '../feed/kv.ts';
import type { ServiceClient } from '../feed/service-client.ts';
import type { Upstream } from '../feed/upstream.ts';
import type { PageLanguages } from '../../locales/messages.ts';

export interface EmbeddedFile {
  hash: string;
  body: string;
}

export interface EdgeMode {
  /** The only `RULES_SOURCE` this Worker knows, and the wrangler file of the Worker that knows the other. */
  rulesSource: RulesSource['kind'];
  otherConfig: string;
  /** Its credentials; `undefined` where they are not complete, and `wrong` has been told. */
  readRules(reader: EnvironmentReader): RulesSource | undefined;
  /** Texts of the pages that are compiled in; English at least. */
  languages: PageLanguages;
  /** Browser files that are compiled in, by name. */
  files: Readonly<Record<string, EmbeddedFile>>;
  /** Where isolates get config and rules. */
  upstream(parts: { service: ServiceClient; kv: KvStore; seal: ConfigSeal }): Upstream;
  /** The scheduled run: the last known good into KV. True when KV is current afterwards. */
  keepLastKnownGood(edge: Edge): Promise<boolean>;
}
