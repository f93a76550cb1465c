/** The fields of a bot policy. */
import type { ResponseOf } from '../../api/service-api.ts';
import { Button } from '../../components/button.tsx';
import { Section } from '../../components/page.tsx';
import { CheckField, SelectField, TextField } from '../../components/field.tsx';
import { botBehaviours, botPresets, type BotAction, type BotBehaviour } from '../../../contract/vocabulary.ts';
import { PolicyOverrides } from './policy-overrides.tsx';
import { actionOptions, type BotPolicyFields } from './policy-words.ts';

type Behaviours = ResponseOf<'/protect/robots'>['behaviours'];

const presetTexts = {
  open: 'open: everybody may',
  'search-only': 'search-only: search yes, training no',
  closed: 'closed: monitors and webhooks only',
} as const;

const comesFor: Record<BotBehaviour, string> = {
  search: 'Search engines',
  agent: 'Agents that act for a person',
  training: 'Crawlers for training',
  preview: 'Previews of links',
  feed: 'Feed readers',
  monitor: 'Monitors of the site',
  webhook: 'Webhooks',
  archive: 'Archives',
  seo: 'Marketing and SEO',
  other: 'Others',
};

export interface PolicyFieldsProps {
  policy: BotPolicyFields;
  /** What each behaviour gets; `null` while unknown. */
  behaviours: Behaviours | null;
  /** Ids of bots, as suggestions. */
  bots: readonly string[];
  isDisabled: boolean;
  onChange: (change: Partial<BotPolicyFields>) => void;
}

export function PolicyFields({ policy, behaviours, bots, isDisabled, onChange }: PolicyFieldsProps) {
  const byPreset = new Map(behaviours?.map((one) => [one.behaviour, one.byPreset]));
  const setBehaviour = (name: BotBehaviour, action: BotAction | '') => {
    const { [name]: _, ...others } = policy.behaviours;
    onChange({ behaviours: action === '' ? others : { ...others, [name]: action } });
  };
  const { charge } = policy;
  return (
    <>
      <Section title="By what they come for">
        <SelectField
          label="Preset"
          hint="What each behaviour gets that has no action of its own below."
          value={policy.preset}
          options={botPresets.map((preset) => [preset, presetTexts[preset]] as const)}
          isDisabled={isDisabled}
          onChange={(preset) => onChange({ preset })}
        />
        <div class="policy-grid">
          {botBehaviours.map((name) => (
            <SelectField
              key={name}
              label={`${comesFor[name]} (${name})`}
              value={policy.behaviours[name] ?? ''}
              options={[['', `by the preset: ${byPreset.get(name) ?? '…'}`] as const, ...actionOptions]}
              isDisabled={isDisabled}
              onChange={(action) => setBehaviour(name, action)}
            />
          ))}
        </div>
      </Section>
      <Section title="Names without a proof">
        <div class="policy-grid">
          <SelectField
            label="Claimed"
            hint="Nothing proves the name, or not yet. Where the bot of that name gets something stricter, they get that."
            value={policy.claimed}
            options={actionOptions}
            isDisabled={isDisabled}
            onChange={(claimed) => onChange({ claimed })}
          />
          <SelectField
            label="Impostor"
            hint="The operator publishes a complete proof, and it does not hold."
            value={policy.impostor}
            options={actionOptions}
            isDisabled={isDisabled}
            onChange={(impostor) => onChange({ impostor })}
          />
        </div>
      </Section>
      <PolicyOverrides
        overrides={policy.overrides}
        bots={bots}
        isDisabled={isDisabled}
        onChange={(overrides) => onChange({ overrides })}
      />
      <Section
        title="Charge"
        actions={
          !isDisabled && (
            <Button
              isSmall
              onClick={() => onChange({ charge: charge === null ? { price: '', licenseUrl: '' } : null })}
            >
              {charge === null ? 'Set a price' : 'Remove the price'}
            </Button>
          )
        }
      >
        {charge === null ? (
          <p class="soft">There is no price. The action charge needs one.</p>
        ) : (
          <div class="policy-grid">
            <TextField
              label="Price"
              hint="Currency and amount, such as USD 0.01"
              value={charge.price}
              isDisabled={isDisabled}
              onInput={(price) => onChange({ charge: { ...charge, price } })}
            />
            <TextField
              label="Licence"
              type="url"
              hint="Address of the licence, https"
              value={charge.licenseUrl}
              isDisabled={isDisabled}
              onInput={(licenseUrl) => onChange({ charge: { ...charge, licenseUrl } })}
            />
          </div>
        )}
      </Section>
      <Section title="Signatures of agents">
        <CheckField
          label="Each signature counts once"
          hint="An agent is proved only by a nonce that was not used before. The edge asks the service for each."
          isChecked={policy.signatures.nonce === 'once'}
          isDisabled={isDisabled}
          onChange={(isOnce) => onChange({ signatures: { ...policy.signatures, nonce: isOnce ? 'once' : 'ignore' } })}
        />
      </Section>
      <Section title="robots.txt">
        <CheckField
          label="Add this policy to the origin’s robots.txt"
          isChecked={policy.robots.serve}
          isDisabled={isDisabled}
          onChange={(serve) => onChange({ robots: { ...policy.robots, serve } })}
        />
      </Section>
    </>
  );
}
