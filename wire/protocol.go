package wire

// Types of the client's messages (manual, "Message Formats"), which begin with them.
const (
	msgQuery        = 'Q'
	msgParse        = 'P'
	msgBind         = 'B'
	msgDescribe     = 'D'
	msgExecute      = 'E'
	msgClose        = 'C'
	msgSync         = 'S'
	msgFlush        = 'H'
	msgFunctionCall = 'F'
	msgCopyData     = 'd'
	msgCopyDone     = 'c'
	msgCopyFail     = 'f'
	msgSASL         = 'p'
	msgTerminate    = 'X'
)

// What messages of the client's there are in a session, by their types.
var (
	// requests are all of them.
	requests = string([]byte{msgQuery, msgParse, msgBind, msgDescribe, msgExecute, msgClose, msgSync, msgFlush,
		msgFunctionCall, msgCopyData, msgCopyDone, msgCopyFail, msgTerminate})
	// smallRequests hold no text of the client's, and are maxSmall bytes long at the most.
	smallRequests = string([]byte{msgDescribe, msgExecute, msgClose, msgSync, msgFlush, msgCopyDone, msgCopyFail,
		msgTerminate})
	// copyRequests can stand in a copy.
	copyRequests = string([]byte{msgCopyData, msgCopyDone, msgCopyFail, msgFlush, msgSync})
)

// Types of the server's messages.
const (
	replyParseComplete        = '1'
	replyBindComplete         = '2'
	replyCloseComplete        = '3'
	replyRowDescription       = 'T'
	replyParameterDescription = 't'
	replyNoData               = 'n'
	replyDataRow              = 'D'
	replyCommandComplete      = 'C'
	replyEmptyQuery           = 'I'
	replyPortalSuspended      = 's'
	replyCopyIn               = 'G'
	replyCopyOut              = 'H'
	replyCopyBoth             = 'W'
	replyCopyData             = 'd'
	replyCopyDone             = 'c'
	replyReadyForQuery        = 'Z'
	replyError                = 'E'
	replyNotice               = 'N'
	replyNotification         = 'A'
	replyParameterStatus      = 'S'
)

// What Describe and Close speak about.
const (
	objectStatement = 'S'
	objectPortal    = 'P'
)

// States of a transaction, as ReadyForQuery has them; in one that goes on it is T.
const (
	statusIdle   = 'I'
	statusFailed = 'E'
)

// What answers a request for encryption, and is no message.
const (
	encryptionTLS  = 'S'
	encryptionNone = 'N'
)
