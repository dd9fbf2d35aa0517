/** A question of the agent as a form: its options, and room for another answer. */
import { useState } from 'react'
import type { Approval, ApprovalInput } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import { joinAnswers, questionsOf, type Question } from '../state/questions.ts'
import { Button, cx, inputClass } from './ui.tsx'

type Chosen = { options: string[]; own: string }
const NOTHING: Chosen = { options: [], own: '' }

export function QuestionForm({
  approval,
  busy,
  onAnswer,
}: {
  approval: Approval
  busy: boolean
  onAnswer: (input: ApprovalInput) => void
}) {
  const m = useMessages()
  const questions = questionsOf(approval.input)
  const [chosen, setChosen] = useState<{ [question: string]: Chosen }>({})
  const answers = joinAnswers(questions, chosen)
  return (
    <form
      className="flex flex-col gap-4 p-3"
      onSubmit={(event) => {
        event.preventDefault()
        if (answers !== null) onAnswer({ decision: 'allow', answers })
      }}
    >
      <div className="flex max-h-[50vh] flex-col gap-4 overflow-y-auto">
        {questions.map((question) => (
          <QuestionField
            key={question.text}
            question={question}
            chosen={chosen[question.text] ?? NOTHING}
            onChange={(next) => setChosen({ ...chosen, [question.text]: next })}
          />
        ))}
      </div>
      <div className="flex gap-2">
        <Button type="submit" look="primary" busy={busy} disabled={answers === null}>
          {m.answer}
        </Button>
        <Button disabled={busy} onClick={() => onAnswer({ decision: 'deny' })}>
          {m.deny}
        </Button>
      </div>
    </form>
  )
}

function QuestionField({ question, chosen, onChange }: { question: Question; chosen: Chosen; onChange: (next: Chosen) => void }) {
  const m = useMessages()
  const toggle = (label: string): void => {
    if (!question.many) return onChange({ options: [label], own: '' })
    const has = chosen.options.includes(label)
    onChange({ ...chosen, options: has ? chosen.options.filter((each) => each !== label) : [...chosen.options, label] })
  }
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1 font-medium">{question.text}</legend>
      {question.options.map((option) => {
        const isOn = chosen.options.includes(option.label)
        return (
          <label
            key={option.label}
            className={cx(
              'flex cursor-pointer items-start gap-2.5 rounded-lg border px-3 py-2 hover:bg-hover',
              isOn ? 'border-accent bg-accent-soft' : 'border-line',
            )}
          >
            <input
              type={question.many ? 'checkbox' : 'radio'}
              name={question.text}
              className="mt-1 accent-accent"
              checked={isOn}
              onChange={() => toggle(option.label)}
            />
            <span>
              <span className="block">{option.label}</span>
              {option.description !== '' && <span className="block text-sm text-muted">{option.description}</span>}
            </span>
          </label>
        )
      })}
      <input
        aria-label={`${question.text}: ${m.ownAnswer}`}
        placeholder={m.ownAnswerHint}
        className={inputClass}
        value={chosen.own}
        onChange={(event) => onChange({ options: question.many ? chosen.options : [], own: event.target.value })}
      />
    </fieldset>
  )
}
