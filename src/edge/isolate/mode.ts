/**
 * What differs between the two edge Workers: the one with a Gatehouse service behind it, and the one against any other
 * service that implements the documented interface. Each has its own entry and wrangler file, so that neither carries
 * what only the other needs.
 */
import type { PageLanguages } from '../../locales/messages.ts';
import type { EdgeEnvironment, RulesReader } from '../environment.ts';
import type { ClientFiles, EmbeddedFile } from '../feed/client-files.ts';
import type { ConfigSeal } from '../feed/config-seal.ts';
import type { KvStore } from '../feed/kv.ts';
import type { ServiceClient } from '../feed/service-client.ts';
import type { Count, Upstream } from '../feed/upstream.ts';

/** What the scheduled run works with. */
export interface BackupParts {
  environment: Pick<EdgeEnvironment, 'rules' | 'serviceUrl'>;
  service: ServiceClient;
  kv: KvStore;
  seal: ConfigSeal;
  files: ClientFiles;
  count: Count;
}

export interface EdgeMode extends RulesReader {
  /** Texts of the pages that are compiled in; English at least. */
  languages: PageLanguages;
  /** Browser files that are compiled in, by name. */
  files: Readonly<Record<string, EmbeddedFile>>;
  /** Where isolates get config and rules. */
  upstream(parts: { service: ServiceClient; kv: KvStore; seal: ConfigSeal }): Upstream;
  /** The scheduled run: the last known good into KV. True when KV is current afterwards. */
  keepLastKnownGood(parts: BackupParts): Promise<boolean>;
}
