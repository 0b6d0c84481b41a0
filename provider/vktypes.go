package provider

// VKProfile is the response of users.get; see [pintle.Profile.Decode]. VK returns
// the fields that the parameter "fields" of the profile URL names, and leaves the
// others out: their zero values then mean unknown. Email comes from the token
// response and is empty without the permission. Flags are 0 or 1.
//
// https://dev.vk.com/en/reference/objects/user
type VKProfile struct {
	ID              int64  `json:"id"`
	FirstName       string `json:"first_name"`
	LastName        string `json:"last_name"`
	Photo100        string `json:"photo_100"`
	CanAccessClosed bool   `json:"can_access_closed"`
	IsClosed        bool   `json:"is_closed"`

	About          string `json:"about"`
	Activities     string `json:"activities"`
	BirthDate      string `json:"bdate"` // D.M.YYYY, or D.M without the year
	Books          string `json:"books"`
	CityName       string `json:"city_name"`
	Deactivated    string `json:"deactivated"` // "deleted" or "banned"
	Domain         string `json:"domain"`
	Email          string `json:"email"`
	Games          string `json:"games"`
	HomeTown       string `json:"home_town"`
	Interests      string `json:"interests"`
	MaidenName     string `json:"maiden_name"`
	Movies         string `json:"movies"`
	Music          string `json:"music"`
	Nickname       string `json:"nickname"`
	Photo200       string `json:"photo_200"`
	Photo200Orig   string `json:"photo_200_orig"`
	Photo400       string `json:"photo_400"`
	Photo400Orig   string `json:"photo_400_orig"`
	Photo50        string `json:"photo_50"`
	PhotoID        string `json:"photo_id"`
	PhotoMax       string `json:"photo_max"`
	PhotoMaxOrig   string `json:"photo_max_orig"`
	Quotes         string `json:"quotes"`
	ScreenName     string `json:"screen_name"`
	Site           string `json:"site"`
	Status         string `json:"status"`
	TV             string `json:"tv"`
	FirstNameAbl   string `json:"first_name_abl"`
	FirstNameAcc   string `json:"first_name_acc"`
	FirstNameDat   string `json:"first_name_dat"`
	FirstNameGen   string `json:"first_name_gen"`
	FirstNameIns   string `json:"first_name_ins"`
	FirstNameNom   string `json:"first_name_nom"`
	LastNameAbl    string `json:"last_name_abl"`
	LastNameAcc    string `json:"last_name_acc"`
	LastNameDat    string `json:"last_name_dat"`
	LastNameGen    string `json:"last_name_gen"`
	LastNameIns    string `json:"last_name_ins"`
	LastNameNom    string `json:"last_name_nom"`
	CommonCount    int64  `json:"common_count"`
	FollowersCount int64  `json:"followers_count"`
	OnlineApp      int64  `json:"online_app"`
	// Timezone is in hours east of Greenwich.
	Timezone float64 `json:"timezone"`

	Blacklisted            int `json:"blacklisted"`
	BlacklistedByMe        int `json:"blacklisted_by_me"`
	CanPost                int `json:"can_post"`
	CanSeeAllPosts         int `json:"can_see_all_posts"`
	CanSeeAudio            int `json:"can_see_audio"`
	CanSendFriendRequest   int `json:"can_send_friend_request"`
	CanWritePrivateMessage int `json:"can_write_private_message"`
	HasMobile              int `json:"has_mobile"`
	HasPhoto               int `json:"has_photo"`
	IsFavorite             int `json:"is_favorite"`
	IsFriend               int `json:"is_friend"`
	IsHiddenFromFeed       int `json:"is_hidden_from_feed"`
	IsNoIndex              int `json:"is_no_index"`
	Online                 int `json:"online"`
	OnlineMobile           int `json:"online_mobile"`
	Trending               int `json:"trending"`
	Verified               int `json:"verified"` // not about the e-mail address

	FriendStatus int    `json:"friend_status"` // 0 to 3
	Sex          int    `json:"sex"`           // 0 to 2
	Relation     int    `json:"relation"`      // 0 to 8
	WallDefault  string `json:"wall_default"`  // "all" or "owner"

	City            *VKPlace           `json:"city"`
	Country         *VKPlace           `json:"country"`
	Career          *VKCareer          `json:"career"`
	Connections     map[string]string  `json:"connections"` // by the name of the service
	Exports         map[string]int64   `json:"exports"`     // by the name of the service
	Contacts        *VKContacts        `json:"contacts"`
	Counters        *VKCounters        `json:"counters"`
	Education       *VKEducation       `json:"education"`
	LastSeen        *VKLastSeen        `json:"last_seen"`
	Military        *VKMilitary        `json:"military"`
	Occupation      *VKOccupation      `json:"occupation"`
	Personal        *VKPersonal        `json:"personal"`
	RelationPartner *VKRelationPartner `json:"relation_partner"`
	Relatives       []VKRelative       `json:"relatives"`
	Schools         []VKSchool         `json:"schools"`
	Universities    []VKUniversity     `json:"universities"`
	StatusAudio     *VKAudio           `json:"status_audio"`
	CropPhoto       *VKCropPhoto       `json:"crop_photo"`
}

// The objects of [VKProfile].
type (
	// A VKPlace is a city or a country.
	VKPlace struct {
		ID    int64  `json:"id"`
		Title string `json:"title"`
	}

	// A VKCareer is a job; From and Until are years.
	VKCareer struct {
		CityID    int64  `json:"city_id"`
		CountryID int64  `json:"country_id"`
		From      int64  `json:"from"`
		GroupID   int64  `json:"group_id"`
		Until     int64  `json:"until"`
		CityName  string `json:"city_name"`
		Company   string `json:"company"`
		Position  string `json:"position"`
	}

	// VKContacts are telephone numbers, as the user typed them.
	VKContacts struct {
		HomePhone   string `json:"home_phone"`
		MobilePhone string `json:"mobile_phone"`
	}

	// VKCounters are the counts of a user's objects.
	VKCounters struct {
		Albums        int64 `json:"albums"`
		Audios        int64 `json:"audios"`
		Followers     int64 `json:"followers"`
		Friends       int64 `json:"friends"`
		Groups        int64 `json:"groups"`
		MutualFriends int64 `json:"mutual_friends"`
		Notes         int64 `json:"notes"`
		OnlineFriends int64 `json:"online_friends"`
		Pages         int64 `json:"pages"`
		Photos        int64 `json:"photos"`
		UserVideos    int64 `json:"user_videos"`
		Videos        int64 `json:"videos"`
	}

	// A VKEducation is the university that the user names; Graduation is a year.
	VKEducation struct {
		Faculty        int64  `json:"faculty"`
		Graduation     int64  `json:"graduation"`
		University     int64  `json:"university"`
		FacultyName    string `json:"faculty_name"`
		UniversityName string `json:"university_name"`
	}

	// VKLastSeen has the time in Unix seconds and the platform, 1 to 7.
	VKLastSeen struct {
		Platform int   `json:"platform"`
		Time     int64 `json:"time"`
	}

	// A VKMilitary is a service; From and Until are years.
	VKMilitary struct {
		CountryID int64  `json:"country_id"`
		UnitID    int64  `json:"unit_id"`
		Unit      string `json:"unit"`
		From      int64  `json:"from"`
		Until     int64  `json:"until"`
	}

	// A VKOccupation has the type "work", "school" or "university".
	VKOccupation struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
		Type string `json:"type"`
	}

	// VKPersonal are views: Alcohol and Smoking are 1 to 5, LifeMain 1 to 8,
	// PeopleMain 1 to 6, Political 1 to 9.
	VKPersonal struct {
		Alcohol    int      `json:"alcohol"`
		Smoking    int      `json:"smoking"`
		LifeMain   int      `json:"life_main"`
		PeopleMain int      `json:"people_main"`
		Political  int      `json:"political"`
		InspiredBy string   `json:"inspired_by"`
		Religion   string   `json:"religion"`
		Langs      []string `json:"langs"`
	}

	// A VKRelationPartner is the other user of a relation.
	VKRelationPartner struct {
		ID              int64  `json:"id"`
		FirstName       string `json:"first_name"`
		LastName        string `json:"last_name"`
		CanAccessClosed bool   `json:"can_access_closed"`
		IsClosed        bool   `json:"is_closed"`
		Deactivated     string `json:"deactivated"`
		Hidden          int64  `json:"hidden"`
	}

	// A VKRelative has the type "parent", "child", "grandparent", "grandchild"
	// or "sibling".
	VKRelative struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
		Type string `json:"type"`
	}

	// A VKSchool is a school; YearFrom, YearTo and YearGraduated are years.
	VKSchool struct {
		City          int64  `json:"city"`
		Country       int64  `json:"country"`
		Type          int64  `json:"type"`
		YearFrom      int64  `json:"year_from"`
		YearGraduated int64  `json:"year_graduated"`
		YearTo        int64  `json:"year_to"`
		Class         string `json:"class"`
		ID            string `json:"id"`
		Name          string `json:"name"`
		Speciality    string `json:"speciality"`
		TypeStr       string `json:"type_str"`
	}

	// A VKUniversity is a university; Graduation is a year.
	VKUniversity struct {
		Chair             int64  `json:"chair"`
		City              int64  `json:"city"`
		Country           int64  `json:"country"`
		Faculty           int64  `json:"faculty"`
		Graduation        int64  `json:"graduation"`
		ID                int64  `json:"id"`
		UniversityGroupID int64  `json:"university_group_id"`
		ChairName         string `json:"chair_name"`
		EducationForm     string `json:"education_form"`
		EducationStatus   string `json:"education_status"`
		FacultyName       string `json:"faculty_name"`
		Name              string `json:"name"`
	}

	// A VKAudio is a piece of music; Duration is in seconds, Date in Unix seconds.
	VKAudio struct {
		Artist    string `json:"artist"`
		Duration  int64  `json:"duration"`
		ID        int64  `json:"id"`
		OwnerID   int64  `json:"owner_id"`
		Title     string `json:"title"`
		AccessKey string `json:"access_key"`
		Performer string `json:"performer"`
		URL       string `json:"url"`
		AlbumID   int64  `json:"album_id"`
		Date      int64  `json:"date"`
		GenreID   int64  `json:"genre_id"`
	}

	// A VKCropPhoto is a photo and the part of it that is the picture of the
	// user.
	VKCropPhoto struct {
		Photo VKPhoto `json:"photo"`
		Crop  VKRect  `json:"crop"`
		Rect  VKRect  `json:"rect"`
	}

	// A VKRect has its corners in per cent.
	VKRect struct {
		X  float64 `json:"x"`
		X2 float64 `json:"x2"`
		Y  float64 `json:"y"`
		Y2 float64 `json:"y2"`
	}

	// A VKPhoto is a photo; Date is in Unix seconds.
	VKPhoto struct {
		AlbumID    int64         `json:"album_id"`
		Date       int64         `json:"date"`
		HasTags    bool          `json:"has_tags"`
		ID         int64         `json:"id"`
		OwnerID    int64         `json:"owner_id"`
		AccessKey  string        `json:"access_key"`
		CanComment int           `json:"can_comment"` // 0 or 1
		Height     int64         `json:"height"`
		Width      int64         `json:"width"`
		Lat        float64       `json:"lat"`
		Long       float64       `json:"long"`
		Photo256   string        `json:"photo_256"`
		Place      string        `json:"place"`
		PostID     int64         `json:"post_id"`
		Text       string        `json:"text"`
		UserID     int64         `json:"user_id"`
		Images     []VKPhotoSize `json:"images"`
		Sizes      []VKPhotoSize `json:"sizes"`
	}

	// A VKPhotoSize is a photo in one size, which Type names by letters. Src is
	// empty in [VKPhoto.Images].
	VKPhotoSize struct {
		Height int64  `json:"height"`
		Width  int64  `json:"width"`
		Src    string `json:"src"`
		URL    string `json:"url"`
		Type   string `json:"type"`
	}
)
