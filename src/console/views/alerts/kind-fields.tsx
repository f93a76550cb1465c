/** Boxes for kinds of alerts. */
import { CheckField } from '../../components/field.tsx';
import { type AlertKind, alertKinds, kindWords } from './alert-words.ts';

export interface KindFieldsProps {
  legend: string;
  chosen: readonly AlertKind[];
  onChange: (chosen: AlertKind[]) => void;
}

export function KindFields({ legend, chosen, onChange }: KindFieldsProps) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div class="group-members">
        {alertKinds.map((kind) => (
          <CheckField
            key={kind}
            label={kindWords[kind]}
            isChecked={chosen.includes(kind)}
            onChange={(isChosen) =>
              onChange(alertKinds.filter((one) => (one === kind ? isChosen : chosen.includes(one))))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}
