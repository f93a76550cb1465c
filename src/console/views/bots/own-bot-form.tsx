/** The form of an own bot. The service says which of its lines it does not accept. */
import { call } from '../../api/call.ts';
import { CreateDialog } from '../../components/create-dialog.tsx';
import { CheckField, TextField } from '../../components/field.tsx';
import { type BotBehaviour, botBehaviours } from '../../../contract/vocabulary.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { linesOf } from '../../settings/setting-schema.ts';
import { useForm } from '../../settings/use-form.ts';
import type { OwnBot } from './own-bot.ts';

export interface OwnBotFormProps {
  /** `null`: a new one. */
  bot: OwnBot | null;
  /** Ids of the bots that the account has. */
  taken: readonly string[];
  onClose: () => void;
  onSaved: (bot: OwnBot) => void;
}

export function OwnBotForm({ bot, taken, onClose, onSaved }: OwnBotFormProps) {
  const form = useForm(
    () => ({
      id: bot?.id ?? '',
      behaviours: bot?.behaviours ?? ([] as readonly BotBehaviour[]),
      patterns: bot?.patterns.join('\n') ?? '',
      networks: bot?.networks.join('\n') ?? '',
      tokens: bot?.tokens.join('\n') ?? '',
      isComplete: bot?.isComplete ?? false,
    }),
    () => forms.ownBot,
  );
  const { behaviours, patterns, networks, tokens, isComplete } = form.draft;
  const id = form.draft.id.trim();
  return (
    <CreateDialog
      title={bot === null ? 'Add a bot' : `Change ${bot.id}`}
      verb={bot === null ? 'Add' : 'Save'}
      isWide
      isComplete={form.isComplete && behaviours.length > 0}
      send={() =>
        call('/protect/bots/own/add', {
          id,
          behaviours: [...behaviours],
          patterns: linesOf(patterns),
          networks: linesOf(networks),
          tokens: linesOf(tokens),
          isComplete,
        })
      }
      onMade={onSaved}
      onClose={onClose}
    >
      <TextField
        {...form.text('id')}
        label="Id"
        isMono
        placeholder="shopbot"
        hint={
          bot === null && taken.includes(id)
            ? 'You have a bot with this id. It is replaced.'
            : 'Small letters, digits, dots and hyphens. With the id of a bot of the catalogue, it takes that bot’s place.'
        }
        isDisabled={bot !== null}
      />
      <fieldset>
        <legend>Comes for</legend>
        <div class="group-members">
          {botBehaviours.map((one) => (
            <CheckField
              key={one}
              label={one}
              isChecked={behaviours.includes(one)}
              onChange={(isChosen) =>
                form.write({
                  behaviours: botBehaviours.filter((other) => (other === one ? isChosen : behaviours.includes(other))),
                })
              }
            />
          ))}
        </div>
      </fieldset>
      <TextField
        {...form.text('patterns')}
        label="Texts in its user agent"
        hint="One in each line, at the start of a word. ^ in front is the beginning of the user agent, * any place."
        rows={3}
        isMono
        placeholder="ShopBot/"
      />
      <TextField
        {...form.text('networks')}
        label="Networks that it comes from"
        hint="One network or address in each line. Without one, its name is only claimed."
        rows={4}
        isMono
        placeholder="198.41.128.0/24"
      />
      <CheckField
        {...form.flag('isComplete')}
        label="It comes from nowhere else"
        hint="Others who use its name are impostors."
      />
      <TextField
        {...form.text('tokens')}
        label="Names in robots.txt"
        hint="One in each line."
        rows={2}
        isMono
        placeholder="ShopBot"
      />
    </CreateDialog>
  );
}
