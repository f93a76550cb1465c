/** The part of robots-txt-guard that the tests call. The package has no types of its own. */
declare module 'robots-txt-guard' {
  interface Group {
    agents: string[];
    rules: { rule: string; path: string }[];
  }
  export default function makeGuard(file: { groups: Group[] }): { isAllowed(userAgent: string, path: string): boolean };
}
