/**
 * Every rule that matches a filter, as a stream of text, one page of the rule book at a time. The next page is read when
 * the client has taken the last one, so neither side holds more than one page.
 */
import type { RuleFilter } from '../../../../store/rule-book/rpc.ts';
import type { RuleKey, StoredRule } from '../../../../store/rule-book/rule-row.ts';
import { type RulePage, rulePage } from '../../../../store/rule-book/client.ts';
import type { InstanceRuleBook } from '../chosen-instance.ts';

/** About 1 MB of response and 20 ms of work per page. */
const PAGE_RULES = 5000;

interface StreamFrame {
  before: string;
  between: string;
  after: string;
}

/** `head` is the first page. `parts` makes the stream; call it once. */
export async function streamRules(
  book: InstanceRuleBook['book'],
  filter: RuleFilter,
  after: RuleKey | undefined,
  written: (rule: StoredRule) => string,
): Promise<{ head: RulePage; parts: (frame: StreamFrame) => ReadableStream<Uint8Array> }> {
  const pageAfter = (key: RuleKey | undefined, withoutTotal: boolean): Promise<RulePage> =>
    rulePage(book, {
      ...filter,
      ...(key ? { after: { type: key.type, value: key.value } } : {}),
      limit: PAGE_RULES,
      withoutTotal,
    });
  const head = await pageAfter(after, false);
  return { head, parts: (frame) => textStream(frame, head, (key) => pageAfter(key, true), written) };
}

function textStream(
  frame: StreamFrame,
  head: RulePage,
  pageAfter: (key: RuleKey) => Promise<RulePage>,
  written: (rule: StoredRule) => string,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let page = head;
  let first = true;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const lead = first ? frame.before : page.rules.length > 0 ? frame.between : '';
      first = false;
      controller.enqueue(encoder.encode(lead + page.rules.map(written).join(frame.between)));
      const last = page.rules.at(-1);
      if (last && page.rules.length >= PAGE_RULES) {
        page = await pageAfter(last);
        return;
      }
      controller.enqueue(encoder.encode(frame.after));
      controller.close();
    },
  });
}
