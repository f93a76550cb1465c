/**
 * The languages of the gate's pages: English is compiled in, and the rest is one file of the service, loaded behind
 * responses. A page in a language that is not loaded yet waits for it briefly; after that it is in English.
 */
import type { FileReading } from './client-files.ts';
import { SharedRun, within } from '../../bytes/polled.ts';
import { failed } from '../../result.ts';
import { isFirstChoice } from '../../locales/accept-language.ts';
import type { PageLanguages } from '../../locales/messages.ts';

export const PAGE_TEXTS_FILE = 'page-texts.json';
/** As long as a request waits for rules. A page in English is better than a late one. */
const WAIT_MS = 400;
const LOAD_LOST_AFTER_MS = 10_000;

export class PageTexts {
  #languages: PageLanguages;
  #isComplete: boolean;
  readonly #read: () => Promise<FileReading>;
  readonly #now: () => number;
  readonly #loads = new SharedRun(LOAD_LOST_AFTER_MS);

  /** `read: null`: all languages are compiled in. */
  constructor(embedded: PageLanguages, read: (() => Promise<FileReading>) | null, now: () => number) {
    this.#languages = embedded;
    this.#isComplete = read === null;
    this.#read = read ?? (() => Promise.resolve(failed({ kind: 'absent' as const })));
    this.#now = now;
  }

  /** Runs behind a response. Does nothing once the texts are loaded, or while another request loads them. */
  load(): Promise<void> {
    return this.#begun() ?? Promise.resolve();
  }

  /** For a page that is about to be rendered, never for a request that passes. */
  async wanted(acceptLanguage: string | null): Promise<PageLanguages> {
    if (this.#isComplete || isFirstChoice('en', acceptLanguage)) return this.#languages;
    const own = this.#begun();
    if (own) await within(own, WAIT_MS);
    else await this.#loads.ended(WAIT_MS);
    return this.#languages;
  }

  /** The load that this request begins; `null` where it need not. */
  #begun(): Promise<void> | null {
    return this.#isComplete ? null : this.#loads.start(this.#now(), () => this.#loaded());
  }

  async #loaded(): Promise<void> {
    const file = await this.#read();
    if (!file.ok) return;
    // Its hash was checked, so this is the file that the build wrote.
    const texts = JSON.parse(new TextDecoder().decode(file.value)) as PageLanguages;
    this.#languages = { ...this.#languages, ...texts };
    this.#isComplete = true;
  }
}
