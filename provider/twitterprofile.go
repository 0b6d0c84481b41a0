package provider

// TwitterProfile is the profile over OAuth 2.0; see [pintle.Profile.Decode]. X
// returns id, name, username and the fields that the parameter "user.fields" of
// UserInfo names, and Includes if "expansions" requests it.
//
// https://docs.x.com/x-api/users/get-my-user
type TwitterProfile struct {
	Data struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Username string `json:"username"`

		CreatedAt       string           `json:"created_at"` // RFC 3339
		Description     string           `json:"description"`
		Entities        *TwitterEntities `json:"entities"`
		Location        string           `json:"location"`
		PinnedPostID    string           `json:"pinned_post_id"`
		ProfileImageURL string           `json:"profile_image_url"`
		Protected       bool             `json:"protected"`
		URL             string           `json:"url"`
		Verified        bool             `json:"verified"` // not about the e-mail address

		// ConfirmedEmail needs the scope users.email. Email is a member that X
		// does not send over OAuth 2.0.
		ConfirmedEmail string `json:"confirmed_email"`
		Email          string `json:"email"`
	} `json:"data"`

	Includes struct {
		Posts []TwitterPost `json:"posts"`
	} `json:"includes"`
}

// The objects of [TwitterProfile].
type (
	// TwitterEntities are the entities that X found in the texts of a user. Start and
	// End are offsets in characters.
	TwitterEntities struct {
		Description struct {
			Hashtags []TwitterHashtag `json:"hashtags"`
		} `json:"description"`
		URL struct {
			URLs []TwitterURL `json:"urls"`
		} `json:"url"`
	}

	// A TwitterHashtag is a tag, without the #.
	TwitterHashtag struct {
		Start int    `json:"start"`
		End   int    `json:"end"`
		Tag   string `json:"tag"`
	}

	// A TwitterURL is a link, as it is shown and as it leads.
	TwitterURL struct {
		Start       int    `json:"start"`
		End         int    `json:"end"`
		DisplayURL  string `json:"display_url"`
		ExpandedURL string `json:"expanded_url"`
		URL         string `json:"url"`
	}

	// A TwitterPost is a post.
	TwitterPost struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
)
