/** Above every view: the instance, the search, and who is signed in. */
import { useLocation } from 'preact-iso/router';
import { useEffect, useRef, useState } from 'preact/hooks';
import { session } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { SelectField } from '../components/field.tsx';
import { addressOf, useParams } from '../url/params.ts';
import { choosableInstances, shownInstance, loadInstances, siteParam } from './instances.ts';

export function TopBar({ isMenuOpen, onMenu }: { isMenuOpen: boolean; onMenu: () => void }) {
  useEffect(() => void loadInstances(), []);
  const state = session.value;
  return (
    <div class="top" role="banner">
      <span class="menu-button">
        <Button kind="quiet" onClick={onMenu} label={isMenuOpen ? 'Close the menu' : 'Open the menu'}>
          ☰
        </Button>
      </span>
      <InstanceChooser />
      <Search />
      {state.kind === 'signed-in' && (
        <div class="who">
          <a href="/console/security" title={`${state.user.email}, ${state.user.role}`}>
            {state.user.name}
          </a>
        </div>
      )}
    </div>
  );
}

function InstanceChooser() {
  const [params, change] = useParams();
  const list = choosableInstances();
  const chosen = shownInstance(params);
  if (chosen === null || list.length < 2) return chosen === null ? null : <b>{chosen.name}</b>;
  return (
    <SelectField
      label="Instance"
      isLabelHidden
      value={chosen.globalSiteKey}
      options={list.map(({ globalSiteKey, name }) => [globalSiteKey, name] as const)}
      onChange={(site) => change({ site, cursor: null })}
    />
  );
}

/** `/` brings the cursor here, as in many tools. */
function Search() {
  const { query, route } = useLocation();
  const [text, setText] = useState('');
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const isTyping = target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName);
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') route(addressOf('/console/find', { ...siteParam(query), q: text.trim() }));
      }}
    >
      <input
        ref={input}
        type="search"
        value={text}
        maxLength={1024}
        spellcheck={false}
        autocomplete="off"
        aria-label="Find a reference, an address, a session or a user agent"
        placeholder="Find a reference, address, session or user agent"
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  );
}
