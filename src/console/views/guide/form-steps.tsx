/** Code for a form and for the backend behind it, with the site's keys. */
import { useState } from 'preact/hooks';
import { Button, CopyButton } from '../../components/button.tsx';
import { SelectField } from '../../components/field.tsx';
import { programs, widgetSnippet } from '../sites/keys.tsx';
import type { ListedSite } from '../sites/sites.tsx';
import type { ComponentChildren } from 'preact';
import { Chip } from '../../components/values.tsx';

export function WidgetCode({ siteKey }: { siteKey: string }) {
  return <Code label="In the page" text={widgetSnippet(siteKey, location.origin)} />;
}

const settings = (secret: string): string => `CAPTCHA_URL=${location.origin}\nCAPTCHA_SECRET=${secret}`;

export function BackendCode({ site }: { site: ListedSite | null }) {
  const [language, setLanguage] = useState(programs[0]?.language ?? '');
  const [isShown, setIsShown] = useState(false);
  // A role that may not change sites gets no secret.
  const secret: string | undefined = site?.secretKey;
  const program = programs.find((one) => one.language === language);
  return (
    <>
      <Code
        label="Settings of the backend"
        text={settings(secret ?? '…')}
        shown={settings(secret === undefined ? '…   # your role does not show it' : isShown ? secret : '•'.repeat(24))}
      />
      {secret !== undefined && (
        <div class="actions">
          <Button isSmall onClick={() => setIsShown(!isShown)}>
            {isShown ? 'Hide the secret' : 'Show the secret'}
          </Button>
        </div>
      )}
      <SelectField
        label="Language"
        value={language}
        options={programs.map((one) => [one.language, one.language] as const)}
        onChange={setLanguage}
      />
      {program !== undefined && <Code label={`Backend in ${program.language}`} text={program.text} />}
    </>
  );
}

export interface StepProps {
  title: string;
  isDone: boolean;
  /** What was seen, when it is done. */
  seen: ComponentChildren;
  children: ComponentChildren;
}

/** One step of the installation: whether the system has seen it done, and how to do it. */
export function GuideStep({ title, isDone, seen, children }: StepProps) {
  return (
    <li class="step" data-done={isDone}>
      <header>
        <h2>{title}</h2>
        <Chip tone={isDone ? 'allow' : 'plain'}>{isDone ? '✓ done' : 'waiting'}</Chip>
      </header>
      {/* The room is there before the step is done. */}
      <p class="soft">{isDone ? seen : '\u00a0'}</p>
      <div class="stack">{children}</div>
    </li>
  );
}

/** Code to paste. */
export function Code({ label, text, shown = text }: { label: string; text: string; shown?: string }) {
  return (
    <div>
      <div class="code-head">
        <span class="soft">{label}</span>
        <CopyButton text={text} />
      </div>
      <pre class="snippet" tabIndex={0} role="region" aria-label={label}>
        {shown}
      </pre>
    </div>
  );
}
