/** Changes that no test can notice, because they make no difference, and why. */
interface Judged {
  file: string;
  before: string;
  after: string;
  reason: string;
}

const judged: readonly Judged[] = [
  {
    file: 'src/address/asn.ts',
    before: 'digits !== undefined',
    after: 'true',
    reason: 'undefined becomes NaN, which is not below the maximum.',
  },
  ...['text === null', "text === ''"].map((before) => ({
    file: 'src/address/asn.ts',
    before,
    after: 'false',
    reason: 'a short cut: the pattern refuses it as well.',
  })),
  {
    file: 'src/address/asn.ts',
    before: "text === null || text === ''",
    after: "text === null && text === ''",
    reason: 'a short cut: the pattern refuses both.',
  },
  {
    file: 'src/address/ip.ts',
    before: 'i < end',
    after: 'i <= end',
    reason: 'behind the end is no colon.',
  },
  {
    file: 'src/address/ip.ts',
    before: 'bits >= 32',
    after: 'bits > 32',
    reason: 'a shift by 0 gives the same mask.',
  },
  {
    file: 'src/address/asn.ts',
    before: 'remembered.set(text, asn);',
    after: ';',
    reason: 'the memory saves time only.',
  },
  {
    file: 'src/captcha/verify/ip-validation.ts',
    before: 'issued.country === null',
    after: 'false',
    reason: 'no rule is for a country named null.',
  },
  {
    file: 'src/captcha/verify/ip-validation.ts',
    before: 'distance > limits.distanceKm',
    after: 'distance >= limits.distanceKm',
    reason: 'a computed distance is no round number.',
  },
  {
    file: 'src/captcha/verify/judge-token.ts',
    before: "''",
    after: '"Stryker was here!"',
    reason: 'the mark before a missing field already tells it from every text.',
  },
  {
    file: 'src/captcha/verify/address-facts.ts',
    before: '[]',
    after: '["Stryker was here"]',
    reason: 'an entry without an address family is in no table.',
  },
  {
    file: 'src/address/ip.ts',
    before: 'bits >= 32',
    after: 'bits > 32',
    reason: 'a shift by no bits is the whole mask as well.',
  },
  ...['true', 'false'].map((after) => ({
    file: 'src/limits/limit-keys.ts',
    before: 'from.ip === null',
    after,
    reason: 'the key of a missing part has the same network beside it, so it separates the same requests.',
  })),
  {
    file: 'src/limits/limit-keys.ts',
    before: String.raw`/[\p{M}\p{C}]+/gu`,
    after: String.raw`/[\p{M}\p{C}]/gu`,
    reason: 'all of them are replaced, one by one or together.',
  },
  {
    file: 'src/limits/replay.ts',
    before: 'this.#open.has(use.limit)',
    after: 'true',
    reason: 'a limit of which everything is known has no open use, so its second count says nothing.',
  },
  {
    file: 'src/limits/two-windows.ts',
    before: 'sums.window > window',
    after: 'sums.window >= window',
    reason: 'the same window has returned before.',
  },
  {
    file: 'src/bytes/base64url.ts',
    before: 'index < BASE64URL_ALPHABET.length',
    after: 'index <= BASE64URL_ALPHABET.length',
    reason: 'behind the last letter is NaN, which is no place of a typed array.',
  },
  {
    file: 'src/bytes/multipart.ts',
    before: '-1',
    after: '+1',
    reason: 'a head that ends before it begins is empty, and an empty one is malformed as well.',
  },
  {
    file: 'src/bytes/multipart.ts',
    before: 'at < body.length',
    after: 'at <= body.length',
    reason: 'a place behind the end, one further or not, ends the loop.',
  },
  {
    file: 'src/bytes/aes-gcm.ts',
    before: 'NONCE_BYTES + TAG_BYTES',
    after: 'NONCE_BYTES - TAG_BYTES',
    reason: 'a short cut: decrypting refuses fewer bytes as well.',
  },
  ...['start < old.length && start < now.length && old[start] === now[start]', 'start < old.length'].map((before) => ({
    file: 'src/bytes/line-diff.ts',
    before,
    after: before.includes('&&') ? 'false' : 'true',
    reason: 'equal lines at the start are found by the search as well, which takes longer.',
  })),
  {
    file: 'src/bytes/line-diff.ts',
    before: 'step <= CHANGES_MAX',
    after: 'step < CHANGES_MAX',
    reason: 'one change more or less in a bound of memory.',
  },
  {
    file: 'src/bytes/url-path.ts',
    before: String.raw`/[^!$&-9:=@A-Z_a-z~]|\/[/.]/`,
    after: String.raw`/[!$&-9:=@A-Z_a-z~]|\/[/.]/`,
    reason: 'a short cut: a plain path is its own canonical form.',
  },
  {
    file: 'src/bytes/url-path.ts',
    before: "'/.'",
    after: '""',
    reason: 'a text without dots has one reading more, which is there already.',
  },
  {
    file: 'src/rules/number-table.ts',
    before: 'probe < PROBES_MAX',
    after: 'false',
    reason: 'a short cut: the search finds the same.',
  },
  {
    file: 'src/rules/number-table.ts',
    before: '{ …',
    after: '{}',
    reason: 'the table saves time only: the search finds the same.',
  },
  {
    file: 'src/rules/number-table.ts',
    before: 'slots[slot]! - 1',
    after: 'slots[slot]! + 1',
    reason: 'an entry is returned only where it has the key, and the search finds the others.',
  },
  {
    file: 'src/rules/substring-paths.ts',
    before: 'i + length > right',
    after: 'true',
    reason: 'what is known of any earlier place saves time only.',
  },
  {
    file: 'src/rules/snapshot.ts',
    before: 'p < theirs.userAgents.count',
    after: 'p <= theirs.userAgents.count',
    reason: 'behind the last pattern is an empty one, which no rule has.',
  },
  {
    file: 'src/edge/decide/judge.ts',
    before: 'policies.size === 0',
    after: 'false',
    reason: 'a short cut: where there are no policies, none applies.',
  },
  {
    file: 'src/edge/decide/judge.ts',
    before: 'true',
    after: 'false',
    reason: 'a mark for the compiler: what is asked is whether a context has it.',
  },
  {
    file: 'src/edge/decide/known-visitor.ts',
    before: '!facts.headers.signatureInput',
    after: 'false',
    reason: 'a short cut: a request without the header has no signature.',
  },
];

/** Why a change makes no difference. `null` where it is not known to. */
export function reasonOf(file: string, before: string, after: string): string | null {
  return judged.find((one) => one.file === file && one.before === before && one.after === after)?.reason ?? null;
}
