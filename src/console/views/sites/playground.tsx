/** The site's widget as its visitors get it, and what a backend reads of its token. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { send, type Refusal } from '../../api/call.ts';
import { Button } from '../../components/button.tsx';
import { RefusalNotice, Section } from '../../components/page.tsx';
import { SelectField } from '../../components/field.tsx';
import type { ListedSite } from './sites.tsx';

const starts = ['interaction', 'load', 'click'] as const;
const sizes = ['normal', 'compact', 'flexible'] as const;
const themes = ['auto', 'light', 'dark'] as const;

export function Playground({ site }: { site: ListedSite }) {
  const box = useRef<HTMLDivElement>(null);
  const [widget, setWidget] = useState<WidgetApi | null | 'failed'>(null);
  const [start, setStart] = useState<(typeof starts)[number]>('click');
  const [size, setSize] = useState<(typeof sizes)[number]>('normal');
  const [theme, setTheme] = useState<(typeof themes)[number]>('auto');
  const [token, setToken] = useState('');
  const [failure, setFailure] = useState('');
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    loadWidget().then(setWidget, () => setWidget('failed'));
  }, []);
  useEffect(() => {
    const { current } = box;
    if (current === null || widget === null || widget === 'failed') return;
    setToken('');
    setFailure('');
    const id = widget.render(current, {
      sitekey: site.siteKey,
      start,
      size,
      theme,
      action: 'playground',
      callback: setToken,
      'error-callback': (code, detail) => setFailure([code, detail].filter(Boolean).join(': ')),
      'expired-callback': () => setToken(''),
    });
    return () => {
      widget.remove(id);
      current.replaceChildren();
    };
  }, [widget, start, size, theme, turn]);
  return (
    <>
      <Section
        title="Widget"
        actions={
          <Button isSmall onClick={() => setTurn(turn + 1)}>
            Start again
          </Button>
        }
      >
        <div class="filters">
          <SelectField label="Start" value={start} options={starts} onChange={setStart} />
          <SelectField label="Size" value={size} options={sizes} onChange={setSize} />
          <SelectField label="Theme" value={theme} options={themes} onChange={setTheme} />
        </div>
        <div class="playground" ref={box} />
        {widget === 'failed' && <p role="alert">The widget’s script could not be loaded.</p>}
        <p class="hint" role="status">
          {failure !== '' && `The widget reports ${failure}. `}
          {failure.includes('page') &&
            `To try it here, ${location.hostname} must be one of the site’s domains. Localhost always may.`}
        </p>
      </Section>
      <Section title="Token">
        {token === '' ? <p class="soft">None yet.</p> : <Verification key={token} token={token} site={site} />}
      </Section>
    </>
  );
}

function Verification({ token, site }: { token: string; site: ListedSite }) {
  const [answer, setAnswer] = useState<unknown>(null);
  const [error, setError] = useState<Refusal | null>(null);
  const secret: string | undefined = site.secretKey;
  const verify = async (): Promise<void> => {
    const result = await send({ method: 'POST', path: '/siteverify', body: { secret, token, action: 'playground' } });
    setError(result.ok ? null : result.error);
    if (result.ok) setAnswer(result.value);
  };
  return (
    <div class="stack">
      <code>{token.slice(0, 120)}…</code>
      {secret === undefined ? (
        <p>Your role does not show the secret that a verification needs.</p>
      ) : (
        <div class="actions">
          <Button kind="primary" onClick={() => void verify()}>
            Verify as a backend
          </Button>
          <span class="hint">A token verifies once.</span>
        </div>
      )}
      <RefusalNotice error={error} />
      {answer !== null && <pre class="snippet">{JSON.stringify(answer, null, 2)}</pre>}
    </div>
  );
}

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

/** Loads the widget's script as any page does: by a script element, which Trusted Types allow for this one address. */
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
