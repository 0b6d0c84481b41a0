package account

// The codes of log records that an operator can act on. docs/errors.md explains them.
const (
	codeActivityNotRecorded = "ActivityNotRecorded"
	codeBreachCheckFailed   = "BreachCheckFailed"
	codeCallbackFailed      = "CallbackFailed"
	codeCodesSuspended      = "CodesSuspended"
	codeIncomplete          = "AccountChangeIncomplete"
	codeMailNotSent         = "MailNotSent"
	codeNotAttached         = "AccountsNotAttached"
	codeNoticeHeldBack      = "NoticeHeldBack"
	codeRequestFailed       = "AccountRequestFailed"
	codeUnopenedSecret      = "UnopenedSecret"
	codeUnusableHash        = "UnusableHash"
)

const fixNotAttached = "set Config.Accounts to the value whose method guards the page, and give that configuration to pintle.New"

// The codes that package pintle has for the same thing.
const (
	codeEvent      = "EventError"
	codeNotRevoked = "NotRevoked"
)
