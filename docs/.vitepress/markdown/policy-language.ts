/** Colours for conditions of policies (docs/policies.md): texts, numbers, words and the names of facts. */
import type { LanguageRegistration } from 'shiki';

export const policyLanguage: LanguageRegistration = {
  name: 'policy',
  scopeName: 'source.policy',
  repository: {},
  patterns: [
    { match: '"[^"]*"', name: 'string.quoted.double' },
    { match: '\\b(?:and|or|not|in|is|true|false)\\b', name: 'keyword.operator' },
    { match: '\\b[0-9]+(?:\\.[0-9]+)?\\b', name: 'constant.numeric' },
  ],
};
