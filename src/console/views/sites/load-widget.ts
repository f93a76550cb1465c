/** Loads the widget's script as any page does: by a script element, which Trusted Types allow for this one address. */
export interface WidgetApi {
  render(container: Element, options: Record<string, string | ((...values: string[]) => void)>): string;
  remove(id: string): void;
}

interface TrustedTypesFactory {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): {
    createScriptURL: (url: string) => string;
  };
}

const ADDRESS = '/widget.js?render=explicit';
let loading: Promise<WidgetApi> | null = null;

export function loadWidget(): Promise<WidgetApi> {
  loading ??= new Promise<WidgetApi>((resolve, reject) => {
    const scope = globalThis as unknown as { gatehouse?: WidgetApi; trustedTypes?: TrustedTypesFactory };
    const script = document.createElement('script');
    script.addEventListener('load', () => {
      if (scope.gatehouse === undefined) reject(new Error('The script has no widget'));
      else resolve(scope.gatehouse);
    });
    script.addEventListener('error', () => {
      loading = null;
      reject(new Error('The script cannot be loaded'));
    });
    // A second try makes no second policy: its name may be used once.
    const policy = scope.trustedTypes?.createPolicy('gatehouse-console', { createScriptURL: () => ADDRESS });
    script.src = policy?.createScriptURL(ADDRESS) ?? ADDRESS;
    document.head.append(script);
  });
  return loading;
}
